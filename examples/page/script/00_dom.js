// Elements of the page. A text is always a text: no function of this page parses HTML.

const SVG = "http://www.w3.org/2000/svg", MATH = "http://www.w3.org/1998/Math/MathML";

// Sets attributes and children; null, undefined and false leave one out. {on: {click: f}} adds
// listeners; true is an attribute without a value; aria-… takes every value.
function fill(node, attributes, children = []) {
  const isGiven = (value) => value !== null && value !== undefined && value !== false;
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") Object.entries(value).forEach((pair) => node.addEventListener(...pair));
    else if (name.startsWith("aria-")) node.setAttribute(name, value);
    else if (isGiven(value)) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter(isGiven));
  return node;
}

// element("td", {class: "cell", "aria-label": "birds 41 %"}, "41"); a child is a node or a text.
function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function svgElement(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

// math("mfrac", a, b): MathML, which browsers draw without a library.
function math(name, ...children) {
  return fill(document.createElementNS(MATH, name), {}, children);
}

function button(text, click, attributes = {}) {
  return element("button", {type: "button", ...attributes, on: {click}}, text);
}

// A part below the first screen: a heading, and what follows it. The style names places by ids.
function section(id, title, ...children) {
  const node = element("section", {id, "aria-labelledby": id + "-title"},
    element("h2", {id: id + "-title"}, inline(title)), ...children);
  node.style.gridArea = id;
  return node;
}

// "−0.413": a number with a real minus sign; "0.000", never "−0.000"; a dash for no number.
function fixed(number, decimals = 3) {
  if (Number.isNaN(number)) return "\u2014";
  const text = Math.abs(number).toFixed(decimals);
  return number < 0 && Number(text) !== 0 ? "\u2212" + text : text;
}

// "93 %"; a share that is not 0 is not called 0.
function percent(share) {
  return (share > 0 && share < 0.005 ? "<1" : Math.round(100 * share)) + "\u00a0%";
}

// "3,680"
function thousands(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

function bytesOf(base64) {
  const letters = atob(base64), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = letters.charCodeAt(i);  // 20 times as fast as from()
  return bytes;
}

// Offers text or bytes as a file.
function download(name, type, content) {
  const href = URL.createObjectURL(new Blob([content], {type}));
  element("a", {download: name, href}).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}
