#include "lib/render/dot.h"

#include <algorithm>
#include <string>
#include <vector>

#include "lib/render/dot_ids.h"
#include "lib/render/picture_key.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

namespace grapnel {
namespace {

// Debian's Graphviz measures text with DejaVu Sans. The other fonts are narrower, so text fits its
// box with any of them.
constexpr const char* kFont = "DejaVu Sans,Verdana,Arial,Helvetica,sans-serif";
constexpr const char* kInk = "#1a1a1a";
constexpr const char* kQuietInk = "#555555";
constexpr const char* kDataInk = "#3b4a5a";
constexpr const char* kControlInk = "#9a9a9a";
constexpr const char* kCallInk = "#8e4585";
constexpr const char* kErrorInk = "#c1121f";
// In points; 9 pt are 12 px in a browser, and in PNGs of 96 dpi.
constexpr int kSmallSize = 9;
// Graphviz has dashes of one length, so MakeEdge() draws both kinds of dashed edges in different inks.
constexpr DrawnAs kDrawnInDot = {
    .closed = "double frame", .control = "gray dashes", .through = "dark dashes"};
constexpr size_t kNameLength = 30, kNoteLength = 40, kMaxLines = 3;  // bytes, lines

std::string Html(llvm::StringRef text) {
  std::string result;
  for (char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

// Escapes text for labels and tooltips, in which Graphviz parses backslash escapes and HTML
// entities.
std::string EscString(llvm::StringRef text) {
  std::string result;
  for (char c : text) {
    if (c == '\\') result += '\\';
    if (c == '&') {
      result += "&amp;";
    } else {
      result += c;
    }
  }
  return result;
}

bool BeginsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

size_t CharacterBoundary(llvm::StringRef text, size_t at) {
  while (at > 0 && at < text.size() && !BeginsCharacter(text[at])) --at;
  return std::min(at, text.size());
}

// Splits text into lines of at most `length` bytes, after a character in `breaks` if possible. If
// the text exceeds kMaxLines, removes its middle, because names differ at their ends.
std::vector<std::string> Wrap(llvm::StringRef text, size_t length, llvm::StringRef breaks) {
  size_t most = length * kMaxLines;
  std::string shortened;
  if (text.size() > most) {
    size_t half = most / 2 - 2;
    shortened = (text.substr(0, CharacterBoundary(text, half)) + "\xe2\x80\xa6" +
                 text.substr(CharacterBoundary(text, text.size() - half)))
                    .str();
    text = shortened;
  }
  std::vector<std::string> lines;
  while (text.size() > length) {
    size_t cut = text.substr(0, length).find_last_of(breaks);
    if (cut == llvm::StringRef::npos) cut = text.substr(0, length).rfind(' ');
    cut = cut == llvm::StringRef::npos || cut < length / 3 ? CharacterBoundary(text, length)
                                                           : cut + 1;
    // If only the ellipsis is left, it stays on this line.
    if (text.substr(cut).ltrim() == "\xe2\x80\xa6") break;
    lines.push_back(text.substr(0, cut).str());
    text = text.substr(cut).ltrim();
  }
  lines.push_back(text.str());
  return lines;
}

std::string HtmlLines(llvm::StringRef text, size_t length = kNameLength,
                      llvm::StringRef breaks = "/_., ") {
  std::string result;
  for (const std::string& line : Wrap(text, length, breaks))
    result += (result.empty() ? "" : "<br/>") + Html(line);
  return result;
}

std::string Small(const std::string& html, const char* ink) {
  return llvm::formatv("<font point-size=\"{0}\" color=\"{1}\">{2}</font>", kSmallSize, ink, html);
}

class DotMaker {
 public:
  explicit DotMaker(const Picture& picture) : picture_(picture) {
    std::string name = "grapnel";
    graph_ = agopen(name.data(), Agdirected, &IdsInOrder());
  }

  Agraph_t* Run() && {
    SetDefaults();
    MakeClusters();
    for (const Box& box : picture_.boxes) MakeBox(box);
    for (const PictureEdge& edge : picture_.edges) MakeEdge(edge);
    return graph_;
  }

 private:
  void Default(int kind, const char* key, const char* value) {
    agattr(graph_, kind, const_cast<char*>(key), const_cast<char*>(value));
  }
  void Set(void* object, const char* key, const std::string& value) {
    agsafeset(object, const_cast<char*>(key), const_cast<char*>(value.c_str()),
              const_cast<char*>(""));
  }
  void SetHtml(void* object, const char* key, const std::string& html) {
    if (!agattr(agroot(object), AGTYPE(object), const_cast<char*>(key), nullptr))
      Default(AGTYPE(object), key, "");
    char* text = agstrdup_html(graph_, const_cast<char*>(html.c_str()));
    agset(object, const_cast<char*>(key), text);
    agstrfree(graph_, text);
  }

  void SetDefaults() {
    static constexpr const char* kRanks[] = {"TB", "BT", "LR"};
    Default(AGRAPH, "rankdir", kRanks[static_cast<int>(picture_.direction)]);
    Default(AGRAPH, "charset", "UTF-8");
    Default(AGRAPH, "compound", "true");
    Default(AGRAPH, "fontname", kFont);
    Default(AGRAPH, "fontsize", "11");
    Default(AGRAPH, "labelloc", "t");
    Default(AGRAPH, "labeljust", "l");
    Default(AGRAPH, "nodesep", "0.25");
    Default(AGRAPH, "ranksep", "0.3");
    Default(AGRAPH, "bgcolor", "white");
    Default(AGRAPH, "linelength", "0");  // otherwise cgraph breaks strings over lines
    Default(AGNODE, "shape", "box");
    Default(AGNODE, "style", "filled");
    Default(AGNODE, "fontname", kFont);
    Default(AGNODE, "fontsize", "11");
    Default(AGNODE, "fontcolor", kInk);
    Default(AGNODE, "color", "#5a5a5a");
    Default(AGNODE, "margin", "0.08,0.03");
    Default(AGNODE, "height", "0.3");
    Default(AGEDGE, "fontname", kFont);
    Default(AGEDGE, "fontsize", "9");
    Default(AGEDGE, "fontcolor", kQuietInk);
    Default(AGEDGE, "color", kDataInk);
    Default(AGEDGE, "arrowsize", "0.7");
    SetHtml(graph_, "label", HeaderHtml());
    Set(graph_, "tooltip", EscString(picture_.title));
  }

  std::string SwatchHtml(const char* fill, llvm::StringRef text) {
    return llvm::formatv("<td bgcolor=\"{0}\" border=\"1\" color=\"#5a5a5a\">{1}</td>", fill,
                         Small(Html(text), kInk));
  }

  std::string HeaderHtml() {
    std::string html = "<table border=\"0\" cellborder=\"0\" cellspacing=\"3\">";
    html += "<tr><td align=\"left\"><font point-size=\"14\"><b>" +
            Html(picture_.title.empty() ? "graph" : picture_.title) + "</b></font></td></tr>";
    for (const std::string& line : picture_.header)
      html += "<tr><td align=\"left\">" + Html(line) + "</td></tr>";
    html += "<tr><td align=\"left\">" + Small(Html(PictureKey(picture_, kDrawnInDot)), kQuietInk) +
            "</td></tr>";
    if (picture_.colors.size() > 1) html += "<tr><td align=\"left\">" + ColorsHtml() + "</td></tr>";
    return html + "</table>";
  }

  std::string ColorsHtml() {
    std::string html =
        "<table border=\"0\" cellborder=\"0\" cellspacing=\"4\" cellpadding=\"3\"><tr>";
    html += "<td>" + Small("color: " + Html(picture_.color_title), kQuietInk) + "</td>";
    std::vector<Swatch> named = NamedColors(picture_);
    for (size_t i = 0; i < named.size(); ++i) {
      if (i > 0 && i % 8 == 0) html += "</tr><tr><td></td>";
      html += SwatchHtml(named[i].fill.c_str(), named[i].name);
    }
    return html + "</tr></table>";
  }

  void MakeClusters() {
    for (size_t i = 0; i < picture_.clusters.size(); ++i) {
      const Cluster& cluster = picture_.clusters[i];
      Agraph_t* parent = cluster.parent < 0 ? graph_ : clusters_[cluster.parent];
      std::string name = ClusterName(static_cast<int>(i));
      Agraph_t* made = agsubg(parent, name.data(), 1);
      clusters_.push_back(made);
      std::string title = "<b>" + HtmlLines(cluster.title, 2 * kNameLength) + "</b>";
      SetHtml(made, "label", cluster.function ? "function " + title : title);
      // In a graph that runs upwards, `dot` swaps top and bottom labels.
      if (picture_.direction == Direction::kUp) Set(made, "labelloc", "b");
      Set(made, "tooltip", EscString(cluster.tooltip));
      Set(made, "style", cluster.made_up ? "filled,rounded,dashed" : "filled,rounded");
      Set(made, "color", cluster.function ? kCallInk : "#b5b5b5");
      // Nested frames alternate between two fill colors, to tell touching frames apart.
      int depth = 0;
      for (int up = cluster.parent; up >= 0; up = picture_.clusters[up].parent) ++depth;
      Set(made, "fillcolor", cluster.function ? "#fbf6fa" : depth % 2 ? "#f3f3f3" : "#fafafa");
      Set(made, "penwidth", cluster.function ? "1.5" : "1");
      Set(made, "margin", "10");
    }
  }

  static std::string ClusterName(int index) { return "cluster" + std::to_string(index); }

  // Returns a name that cgraph can write and read back. It has no NUL, since cgraph ends a name
  // there, and '|' in place of each backslash, since cgraph cannot read a name that ends in one.
  static std::string NodeName(const Box& box) {
    std::string name = Printable(box.id);
    std::replace(name.begin(), name.end(), '\\', '|');
    return name;
  }

  void MakeBox(const Box& box) {
    Agraph_t* home = box.cluster < 0 ? graph_ : clusters_[box.cluster];
    std::string name = NodeName(box);
    while (agnode(home, name.data(), 0) || agnode(graph_, name.data(), 0)) name += "'";
    Agnode_t* node = agnode(home, name.data(), 1);
    nodes_.push_back(node);
    SetHtml(node, "label", LabelHtml(box));
    Set(node, "tooltip", EscString(box.tooltip));
    Set(node, "fillcolor", picture_.colors.empty() ? "#ffffff" : picture_.colors[box.color].fill);
    if (box.input || box.output) Set(node, "style", "filled,rounded");
    if (box.input || box.output) Set(node, "penwidth", "1.8");
    if (box.kind == BoxKind::kScope || box.kind == BoxKind::kFunction || box.repeat > 1)
      Set(node, "peripheries", "2");
    if (box.kind == BoxKind::kFunction) Set(node, "color", kCallInk);
    if (box.focus) Set(node, "penwidth", "3");
    if (box.kind == BoxKind::kRest || box.made_up) Set(node, "style", "filled,dashed");
    if (box.kind == BoxKind::kStub) {
      Set(node, "style", "filled,dashed");
      Set(node, "color", kErrorInk);
      Set(node, "fontcolor", kErrorInk);
    }
  }

  // Makes the label a table with a row for each line: lines of different font sizes in one text
  // would touch.
  std::string LabelHtml(const Box& box) const {
    std::string title = box.title;
    if (box.repeat > 1) title = WithCommas(box.repeat) + " \xc3\x97 " + title;
    std::string first = "<b>" + HtmlLines(title) + "</b>";
    if (box.kind == BoxKind::kFunction) first = "function " + first;
    if (!box.name.empty() && box.name != box.title)
      first += "</td></tr><tr><td>" + HtmlLines(box.name);
    std::string html =
        "<table border=\"0\" cellborder=\"0\" cellspacing=\"0\" cellpadding=\"1\"><tr><td>" +
        first + "</td></tr>";
    for (const std::string& note : box.notes) {
      html += "<tr><td>" + Small(HtmlLines(note, kNoteLength, ","), kQuietInk) + "</td></tr>";
    }
    return html + "</table>";
  }

  void MakeEdge(const PictureEdge& edge) {
    Agedge_t* made = agedge(graph_, nodes_[edge.from], nodes_[edge.to], nullptr, 1);
    std::string label = edge.label;
    std::string count = WithCommas(edge.count);
    switch (edge.kind) {
      case PictureEdge::Kind::kData:
        if (edge.count > 1)
          label = label.empty() ? count + " tensors" : count + " \xc3\x97 " + label;
        break;
      case PictureEdge::Kind::kControl:
        label = edge.count > 1 ? count : "";
        Set(made, "style", "dashed");
        Set(made, "color", kControlInk);
        Set(made, "arrowhead", "vee");
        break;
      case PictureEdge::Kind::kCall:
        Set(made, "style", "dotted");
        Set(made, "color", kCallInk);
        Set(made, "fontcolor", kCallInk);
        Set(made, "arrowhead", "none");
        break;
      case PictureEdge::Kind::kDangling:
        if (edge.count > 1) label = count + " inputs";
        Set(made, "color", kErrorInk);
        break;
      case PictureEdge::Kind::kThrough:
        Set(made, "style", "dashed");
        break;
    }
    if (!label.empty())
      Set(made, "label", EscString("  " + label));  // the blanks keep the label away from the line
    if (edge.count > 1) Set(made, "penwidth", edge.count > 8 ? "2.4" : "1.6");
    if (edge.back) Set(made, "constraint", "false");
    if (edge.to_cluster >= 0) Set(made, "lhead", ClusterName(edge.to_cluster));
    std::string text =
        NodeName(picture_.boxes[edge.from]) + " -> " + NodeName(picture_.boxes[edge.to]);
    Set(made, "tooltip", EscString(label.empty() ? text : text + ": " + label));
    if (!label.empty()) Set(made, "labeltooltip", EscString(text));
  }

  const Picture& picture_;
  Agraph_t* graph_;
  std::vector<Agraph_t*> clusters_;
  std::vector<Agnode_t*> nodes_;
};

int AppendToDot(void* channel, const char* text) {
  static_cast<std::string*>(channel)->append(text);
  return 0;
}

int Flush(void*) { return 0; }

}  // namespace

Agraph_t* MakeDotGraph(const Picture& picture) { return DotMaker(picture).Run(); }

std::string DotText(Agraph_t* graph) {
  std::string text;
  Agiodisc_t io = {nullptr, AppendToDot, Flush};
  Agiodisc_t* old = graph->clos->disc.io;
  graph->clos->disc.io = &io;
  agwrite(graph, &text);
  graph->clos->disc.io = old;
  return text;
}

}  // namespace grapnel
