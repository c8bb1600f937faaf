#include "lib/serve/routes/host_names.h"

#include "gtest/gtest.h"

namespace grapnel {
namespace {

HostNames Parsed(const std::vector<std::string>& texts) {
  return llvm::cantFail(HostNames::Parse(texts));
}

TEST(HostNames, ThisMachineHasAnyPort) {
  HostNames names;
  for (const char* host : {"127.0.0.1", "localhost:1", "LocalHost:65535", "[::1]:80", "[::1]"})
    EXPECT_TRUE(names.Allows(host)) << host;
  for (const char* host :
       {"", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80",
        "localhost:", "localhost:0", "localhost:80x", "localhost:80:80"})
    EXPECT_FALSE(names.Allows(host)) << host;
}

TEST(HostNames, FurtherOnesAsTheyWereGiven) {
  HostNames names = Parsed({"hub.example.org", "lab:8443"});
  for (const char* host : {"hub.example.org", "Hub.Example.org:443", "lab:8443"})
    EXPECT_TRUE(names.Allows(host)) << host;
  for (const char* host : {"example.org", "lab", "lab:8444", "xlab:8443"})
    EXPECT_FALSE(names.Allows(host)) << host;
}

TEST(HostNames, OriginIsOfTheSameHost) {
  HostNames names = Parsed({"hub.example.org"});
  EXPECT_TRUE(names.IsOwnOrigin("", "hub.example.org"));
  EXPECT_TRUE(names.IsOwnOrigin("https://hub.example.org", "hub.example.org"));
  EXPECT_TRUE(names.IsOwnOrigin("http://localhost:9", "localhost:9"));
  for (const char* origin : {"null", "http://localhost:8", "ftp://localhost:9",
                             "http://localhost:9/", "http://evil.example"})
    EXPECT_FALSE(names.IsOwnOrigin(origin, "localhost:9")) << origin;
}

TEST(HostNames, WhatIsNoneIsRefused) {
  for (const char* text : {"", "http://a", "a/b", "a:", "a:0", "a:70000", "a b", "*", ":80"})
    EXPECT_TRUE(errorToBool(HostNames::Parse({std::string(text)}).takeError())) << text;
}

}  // namespace
}  // namespace grapnel
