#include "lib/job/layers_text.h"

#include "lib/support/printable.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

constexpr size_t kLongest = 500;  // lines, unless all are asked for

class TextWriter {
 public:
  TextWriter(const ModelLayers& layers, bool all, bool bytes)
      : layers_(layers), all_(all), bytes_(bytes && !layers.costs.empty()) {
    rows_.push_back({"layer (class)", "output shape", "params"});
    if (!layers.costs.empty()) rows_.back().emplace_back("FLOPs");
    if (bytes_) rows_.back().emplace_back("tensors");
    AddRows(-1, "");
  }

  void Write(llvm::raw_ostream& os) {
    size_t hidden = 0;
    if (!all_ && rows_.size() > kLongest + 1) {
      hidden = rows_.size() - kLongest - 1;
      rows_.resize(kLongest + 1);
    }
    os << Table(rows_, "  ");
    if (hidden > 0) os << "  ... and " << WithCommas(hidden) << " more (--all)\n";
  }

 private:
  void AddRows(int parent, const std::string& indent) {
    for (int layer : layers_.table.LayersIn(parent)) {
      rows_.push_back({indent + NameOf(layer), ShapesOf(layer), ParametersOf(layer)});
      if (!layers_.costs.empty()) rows_.back().push_back(FlopsOf(layer));
      if (bytes_) rows_.back().push_back(HumanBytes(layers_.costs[layer].bytes));
      if (all_) AddRows(layer, indent + "  ");
    }
  }

  std::string NameOf(int layer) const {
    const ModelLayer& itself = layers_.table.layers()[layer];
    std::string about = itself.class_name;
    if (itself.is_model) {
      if (!about.empty()) about += ", ";
      about += Plural(layers_.table.LayersIn(layer).size(), "layer");
    }
    std::string name = layers_.table.LabelOf(layer);
    return about.empty() ? name : name + " (" + about + ")";
  }
  std::string ShapesOf(int layer) const {
    std::string text;
    for (const Shape& shape : layers_.shapes[layer])
      text += (text.empty() ? "" : ", ") + shape.ToString();
    return text;
  }
  std::string ParametersOf(int layer) const {
    ParameterCount count = layers_.table.ParametersOf(layer);
    return WithCommas(count.all) + (count.is_open ? "+" : "");
  }
  std::string FlopsOf(int layer) const {
    const RunCost& cost = layers_.costs[layer];
    return WithCommas(cost.flops) + (cost.open > 0 ? "+" : "");
  }

  const ModelLayers& layers_;
  const bool all_, bytes_;
  std::vector<std::vector<std::string>> rows_;
};

void WriteLayersIn(const ModelLayers& layers, int parent, llvm::json::OStream& json) {
  bool is_told = layers.table.ParametersOf(-1).is_told;
  for (int i : layers.table.LayersIn(parent)) {
    const ModelLayer& layer = layers.table.layers()[i];
    ParameterCount count = layers.table.ParametersOf(i);
    json.object([&] {
      json.attribute("name", llvm::json::fixUTF8(layer.name));
      if (!layer.class_name.empty()) json.attribute("class", llvm::json::fixUTF8(layer.class_name));
      if (!layers.shapes[i].empty()) json.attribute("shape", layers.shapes[i][0].ToString());
      if (layers.shapes[i].size() > 1) {
        json.attributeArray("shapes", [&] {
          for (const Shape& shape : layers.shapes[i]) json.value(shape.ToString());
        });
      }
      json.attribute("parameters", count.all);
      if (is_told) json.attribute("trainable", count.trainable);
      if (!layers.costs.empty()) {
        json.attribute("flops", layers.costs[i].flops);
        json.attribute("bytes", layers.costs[i].bytes);
        if (layers.costs[i].open > 0) json.attribute("open", layers.costs[i].open);
      }
      if (layer.is_model) json.attributeArray("layers", [&] { WriteLayersIn(layers, i, json); });
    });
  }
}

}  // namespace

void WriteLayersText(const ModelLayers& layers, bool all, bool bytes, llvm::raw_ostream& os) {
  if (layers.table.empty()) return;
  os << "\nlayers";
  if (!layers.table.model().empty()) os << " of " << Printable(layers.table.model());
  os << "\n";
  TextWriter(layers, all, bytes).Write(os);
  os << TotalsText(layers);
}

void WriteLayersJson(const ModelLayers& layers, llvm::json::OStream& json) {
  if (layers.table.empty()) return;
  json.attributeArray("layers", [&] { WriteLayersIn(layers, -1, json); });
  ParameterCount count = layers.table.ParametersOf(-1);
  json.attributeObject("totals", [&] {
    json.attribute("parameters", count.all);
    if (count.is_told) {
      json.attribute("trainable", count.trainable);
      json.attribute("non_trainable", count.all - count.trainable);
    }
    json.attribute("bytes", count.bytes);
    if (layers.costs.empty()) return;
    json.attribute("flops", layers.total.flops);
    if (layers.total.open > 0) json.attribute("open", layers.total.open);
    if (layers.assumed_batch > 0) json.attribute("assumed_batch", layers.assumed_batch);
  });
}

}  // namespace grapnel
