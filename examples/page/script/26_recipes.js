// What a model may be made of, as settings of the engine.

const llama = {positions: "rotary", norm: "rms", mlp: "swiglu"};
const recipes = {
  gpt2: {name: "GPT-2", parts: "position vectors, layer norm, GELU",
    settings: {forms: {}, bias: true}},
  rotary: {name: "GPT-2, rotary", parts: "rotary positions in place of vectors",
    settings: {forms: {positions: "rotary"}, bias: true}},
  llama: {name: "Llama", parts: "rotary positions, RMS norm, SwiGLU",
    settings: {forms: llama, bias: false}},
  today: {name: "today", parts: "Llama's, and a norm of queries and keys",
    settings: {forms: {...llama, qk_norm: "rms"}, bias: false}}};

// A choice of recipes; with `first`, the model's own comes first, and its value is "".
function recipeChoice(id, value, first) {
  const others = Object.entries(recipes).map(([key, {name, parts}]) => [key, `${name}: ${parts}`]);
  const select = element("select", {id}, [...(first ? [["", first]] : []), ...others].map(
    ([key, text]) => element("option", {value: key}, text)));
  select.value = value;
  return select;
}
