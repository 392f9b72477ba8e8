// Reads the data, begins the run and builds the page.

window.fledgeErrors = [];
addEventListener("error", (event) => fledgeErrors.push(String(event.message)));
addEventListener("unhandledrejection", (event) => fledgeErrors.push(String(event.reason)));
addEventListener("securitypolicyviolation", (event) =>
  fledgeErrors.push("policy: " + event.violatedDirective));

async function startPage() {
  Object.assign(page, JSON.parse(document.getElementById("data").textContent));
  if (page.text.base64) page.text = bytesOf(page.text.base64);
  page.book = page.book.map((lesson) => JSON.parse(lesson));
  await (page.run ? openRecorded() : beginRun(page.settings));
  learning.hasBegun = learning.isRecorded && learning.kept.length < 2;  // nothing to play
  readAddress();
  const whole = document.getElementById("page");
  whole.append(firstPart());
  await refresh();  // what is seen first
  const below = [gridPart(), cellPart(), lensPart(), gradientPart(), lossPart(), switchesPart(),
    mapPart(), writePart(), textPart()];
  const links = below.map((part) => element("a", {href: "#" + part.id},
    ...part.firstChild.cloneNode(true).childNodes));
  const hasBook = page.book.length > 0;
  const nav = element("nav", {"aria-label": "Parts of this page"}, links);
  whole.append(...(hasBook ? [...bookPart(),
    element("section", {"aria-labelledby": "laboratory"},
      element("h2", {id: "laboratory"}, "Laboratory"), nav)] : [nav]), element("main", {}, below));
  if (hasBook) {
    drawContents();
    readBook();
  }
  await refresh();
  if (!seen) {
    // The address has words or positions that the model does not have.
    forgetError();
    await change({sentence: page.story.sentence, hidden: new Set()});
  }
  page.isReady = true;
}

// A page without the engine has its story as a still picture, and says so itself.
if (document.getElementById("engine").textContent !== "") startPage().catch((error) => {
  fledgeErrors.push(String(error.message));
  reportError({message: "The live part of this page did not start: " + error.message});
});
