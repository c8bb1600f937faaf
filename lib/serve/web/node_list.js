// Some nodes of a body in the order of the graph, for code that visits every node.

const MOST_TYPES = 64;  // as OutputTypes in lib/render/node_texts.h

export class NodeList {
  // `rows`: the nodes' rows (page_rows.js); `texts`: the AnswerRows or FileRows with their texts.
  constructor(rows, texts) { Object.assign(this, {rows, texts}); }

  get count() { return this.rows.ids.length; }
  get ids() { return this.rows.ids; }
  get names() { return this.rows.names; }
  // By scope, the scope around it less the scope's id; only in the first list of a body.
  get parents() { return this.rows.numbers("parents", 0); }
  get insides() { return this.rows.numbers("inside"); }

  // Return a field of the node in a row. Nodes with equal traits have one object: {op, device,
  // cluster, types, attributes}, where absent fields are empty.
  traits(row) { return this.texts.text("traits", this.rows.numbers("traits")[row]); }
  line(row) { return this.texts.text("stack", this.rows.numbers("stack")[row]).line ?? ""; }
  home(row) { return this.ids[row] + this.rows.numbers("home")[row]; }
  // Returns the ids of the nodes that a node reads; -1 - id for a control input.
  inputs(row) {
    return this.rows.inputsAt(row).filter(({id}) => id !== undefined).map(({id, isControl}) =>
      (isControl ? -1 - id : id));
  }
}

// Returns the types of a node's outputs as one text.
export function typesText({types = []}) {
  const text = types.slice(0, MOST_TYPES).join(" ");
  return types.length > MOST_TYPES ? `${text} ...` : text;
}
