// Reads the data and builds the page.

window.fledgeErrors = [];
addEventListener("error", (event) => window.fledgeErrors.push(String(event.message)));
document.addEventListener("securitypolicyviolation", (event) =>
  window.fledgeErrors.push("policy: " + event.violatedDirective));

Object.assign(page, JSON.parse(document.getElementById("data").textContent));
const isCourse = page.kind === "course";
letters.theme = "c";
Object.assign(selection, {step: page.run.snapshots.length - 1, query: Infinity, theme: 0});
const address = readAddress();
select({query: page.run.sentences[0].ids.length - 1, ...address});
clamp();
if (address.key === undefined) selection.key = likeliestKey();
const parts = [
  isCourse && trianglePart(), timePart(), nowPart(), lossPart(), attentionPart(), graphPart(), workedPart(),
  whatIfPart(), gradientPart(), watchPart(), mapPart(), nextPart(), tensorsPart(), isCourse && variantsPart(),
  isCourse && exercisesPart(), glossaryPart()].filter(Boolean);
// Only now: after an error the tables still stand there.
document.getElementById("static").remove();
document.getElementById("page").append(...parts);
sayAttention();
addEventListener("hashchange", () => select(readAddress()));
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => { part.open = true; }));
