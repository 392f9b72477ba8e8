// The reader's own text: it is learned, saved, opened by `fledge`, and brought back; it stays a
// text whatever it looks like. An error of the engine is a sentence, and nothing is kept for ever. Pages
// of one's own runs.
#include "tests/page/browser/pages.h"

namespace testing {

namespace {

/// Texts that end a context, run a script, turn the direction or take much room somewhere, in JS.
constexpr const char* hostile = R"js(["</script>", "</script><script>window.__xss = 1</script>",
  "</SCRIPT >", "<script>window.__xss = 1</script>", "<!--", "-->", "<!--<script>", "]]>",
  "<![CDATA[", "</title><title>changed</title>", "</style>", "</main>", "\"", "'", "&", "\\",
  "%s%n", "=1+1",
  "<img src=x onerror=window.__xss=1>", "<svg onload=window.__xss=1>", "javascript:window.__xss=1",
  "<iframe srcdoc='<script>parent.__xss=1</script>'>", "' onfocus='window.__xss=1",
  "\" onmouseover=\"window.__xss=1", "`${window.__xss = 1}`", "${window.__xss = 1}",
  "{{constructor.constructor('window.__xss=1')()}}", "\\u003cscript\\u003e", "&lt;b&gt;&amp;&#60;",
  "__proto__", "constructor", "<base href=https://example.com/>", "*loss*",
  "<meta http-equiv=refresh content=0>", "\u202Eright to left\u202C", "\u2028\u2029",
  "\u2066\u05D0\u05D1\u2069", "\u0645\u0631\u062D\u0628\u0627", "\u200B\u200D\uFEFF",
  "e\u0301\u0302\u0303", "\u{10FFFF}", "\uFFFD", "\uD800", "a\0b", "w".repeat(1e5),
  "\u{1F426}\u{1F468}\u200D\u{1F469}\u200D\u{1F467}"])js";

/// Gives the text, a script, to the field; presses "Learn this text"; stops after a few steps, or
/// when the engine has refused the text.
void learn_own_text(Chromium& browser, const std::string& text_in_js, const std::string& kind) {
  browser.evaluate("t.put('#text', " + text_in_js + "); t.put('#kind', '" + kind +
                   "'); forgetError(); learning.last = 0; t.click('#learn-text')");
  browser.until("learning.last >= 2 || t.isShown('#trouble')");
  browser.evaluate("if (learning.isOn) t.click('#go'); t.settled()");
}

void check_harmless(Chromium& browser) {
  check_quiet(browser);
  CHECK(browser.number("document.scripts.length") == 3);
  CHECK(browser.is_true("t.one('img, iframe, base, object, embed') === null"));
  CHECK(browser.is_true("document.documentElement.scrollWidth <= innerWidth"));
  CHECK(browser.is_true("t.one('#stage .word') && t.one('#next li')"));
}

/// The file that this button offers.
std::string downloaded(Chromium& browser, const Folder& folder, const std::string& button,
                       const std::string& name) {
  browser.evaluate("t.click('" + button + "')");
  for (int i = 0; i < 400 && !std::filesystem::exists(folder / name); ++i) browser.wait(50);
  return folder / name;
}

const std::string prose =
    "The old keeper counted the lamps. He \u2013 left.\nNobody ever read these long notes of hers!\n";

/// Opens the page of a run over a text with these options.
void open_run(Chromium& browser, const std::string& text, const std::string& options) {
  const Folder folder;
  write_file(folder / "text.txt", text);
  output_of("fledge train " + folder / "text.txt" + " -q --no-save --page " +
            folder / "page.html " + options);
  opened(browser, folder / "page.html");
}

/// The names of units, other than this one, that a reader sees or hears on the page.
std::string other_units(Chromium& browser, const std::string& unit) {
  return browser.text(R"js([...document.querySelectorAll(".term")].map((node) =>
    node.dispatchEvent(new Event("focus")) && t.text("#meaning"))
    .concat([...document.querySelectorAll("#page [aria-label]")].map((node) => node.ariaLabel))
    .join("\n").concat(t.one("#page").innerText).replace(t.one("#own-text").innerText, "")
    .match(/\b(word|letter|character|byte|token)s?\b/gi)?.filter((name) =>
      !name.toLowerCase().startsWith(")js" +
                      unit + "\")).join() ?? \"\"");
}

}  // namespace

TEST_CASE("page text: a reader's text is learned, as words and as letters") {
  OpenPage browser(birds_page());
  const std::string text = fledge::Json(poem()).text();
  learn_own_text(browser, text, "word");
  check_steps(browser, {{"", "model.kind === 'word' && model.words.includes('lake')"},
                        {"", "seen.tokens.join(' ').startsWith('\\n the cat')"}});
  CHECK(browser.text("page.text") == poem());
  learned(browser);
  check_steps(browser, {{"", "learning.last === model.steps"},
                        {"", "learning.losses.at(-1).loss < model.baselines.guessing / 2"}});
  learn_own_text(browser, text, "character");
  check_steps(browser, {{"", "model.kind === 'character'"},
                        {"", "seen.tokens.every((token) => [...token].length === 1)"},
                        {"", "!t.one('#grid').innerText.includes('word')"}});
  check_harmless(browser);
}

TEST_CASE("page text: a text is learned with each recipe that is offered") {
  OpenPage browser(birds_page());
  for (const auto& [recipe, made] : {std::pair{"gpt2", "layer, position vectors, biases"},
                                     {"rotary", "layer, rotary, biases"},
                                     {"llama", "rms, rotary, swiglu"},
                                     {"today", "rms, rotary, swiglu, norm of queries and keys"}}) {
    INFO(recipe);
    browser.evaluate("t.put('#recipe', '" + std::string(recipe) + "')");
    learn_own_text(browser, fledge::Json(poem()).text(), "word");
    CHECK(browser.text(R"js([model.forms.norm ?? "layer", model.forms.positions, model.forms.mlp,
      !model.forms.positions && "position vectors", model.bias && "biases",
      model.forms.qk_norm && "norm of queries and keys"].filter(Boolean).join(", "))js") == made);
    learned(browser);
    check_steps(browser, {{"", "learning.losses.at(-1).loss < model.baselines.guessing / 2"},
                          {"", "row().every((weight) => weight >= 0) && !t.one('#page .stale')"}});
  }
  // Beside the model: the chosen recipe is trained there, and this one stays.
  browser.evaluate("t.put('#set-recipe', 'gpt2'); t.put('#set-steps', 30); t.click('#train')");
  browser.until("t.text('#train') === 'Train it beside this one' && rivals.at(-1)?.losses.length");
  check_steps(browser, {{"", "/^made like GPT-2, steps 30: step 30/.test(t.text('#rival h3'))"},
                        {"", "model.forms.qk_norm === 'rms'"}});
  check_harmless(browser);
}

TEST_CASE("page text: hostile texts stay texts, and what cannot be read is said") {
  OpenPage browser(birds_page());
  const std::string title = browser.text("document.title");
  const std::string all = std::string(hostile) +
                          ".filter(({length}) => length < 1e4)"
                          ".map((word) => word + ' birds walk\\n').join('')";
  for (const auto& [kind, script] : std::vector<std::pair<std::string, std::string>>{
           {"word", all},
           {"character", all},
           {"word", "'a\\0b c\\u0007d\\u001b[31m e\\u0085f\\n'.repeat(20)"},
           {"character", "'birds \\ud800 walk \\udc00\\ud800 slowly\\n'.repeat(20)"},
           {"word", "'birds walk\\n'.repeat(40) + 'w'.repeat(1e5) + ' birds walk\\n'"},
           {"character", "'a'.repeat(2e5)"},
           {"word", "'a'.repeat(2e5)"},
           {"word", "'birds '.repeat(30)"}}) {
    INFO(kind << " of " << script.substr(0, 80));
    learn_own_text(browser, script, kind);
    // It trains, or a sentence says why not.
    CHECK(browser.is_true("learning.last >= 2 || t.text('#trouble').length > 20"));
    CHECK(browser.text("document.title") == title);
    check_harmless(browser);
  }
  // What is too short or too long is said before anything is trained.
  for (const std::string some : {"''", "'birds'", "' \\t\\n\\u00a0\\u3000'.repeat(50)",
                                 "'birds walk slowly\\n'.repeat(20000)"})
    check_steps(browser, {{"t.put('#text', " + some + ")", "t.one('#learn-text').disabled"}});
  // And each as the sentence, which the model knows or not.
  browser.evaluate("(async () => { for (const word of " + std::string(hostile) +
                   ") { t.put('#own', word + ' '); await t.settled(); } })()");
  check_harmless(browser);
}

TEST_CASE("page text: an error of the engine is a sentence, and the page goes on") {
  OpenPage browser(birds_page());
  learned(browser);
  browser.evaluate("window.last = t.next()");
  // The worker throws its instance away and makes a new one, which knows what the old one knew.
  for (const char* call :
       {"engine.begin(page.text, {width: 1e6})", "engine.begin('', {})", "engine.begin('a', {})",
        "engine.begin(page.text, {layers: 'two'})", "engine.load(new Uint8Array(100).buffer, '')",
        "engine.show(new Uint8Array(12).buffer)", "engine.cell(question(), 7, 7, 7, 7)"}) {
    INFO(call);
    const std::string sentence =
        browser.text(std::string(call) + ".then(() => 'no error', (error) => error.message)");
    CHECK(sentence.size() > 20);
    CHECK_THAT(sentence, !ContainsSubstring("undefined") && !ContainsSubstring("unreachable"));
    check_steps(browser, {{"showStep(500)", "t.next() === last"}});
  }
  // A file that is no run, dropped on the page.
  const Folder folder;
  write_file(folder / "bad.safetensors", "no run at all");
  browser.evaluate("t.one('#own-text').scrollIntoView({behavior: 'instant'})");
  browser.drop("#own-text", folder / "bad.safetensors");
  browser.until("t.isShown('#trouble') && t.text('#trouble').length > 20");
  CHECK(
      browser.is_true("(({top, bottom}) => top >= 0 && bottom <= innerHeight)("
                      "t.one('#trouble').getBoundingClientRect())"));
  check_steps(browser, {{"", "t.next() === last"}});
  browser.evaluate("t.click('#go')");  // it still trains
  browser.until("learning.last > 0 && learning.last < model.steps");
  check_quiet(browser);
}

TEST_CASE("page text: ten trainings leave no memory and no worker behind") {
  OpenPage browser(birds_page());
  browser.evaluate("beginRun({...page.settings, steps: 100})");
  const auto retrained = [&] {
    learned(browser);
    for (int i = 0; i < 2; ++i) {  // a rival that is stopped soon
      browser.evaluate("t.click('#train')");
      browser.wait(300);
    }
    browser.evaluate("t.settled()");
    return browser.memory();
  };
  retrained();
  const std::vector<double> before = retrained();
  for (int i = 0; i < 8; ++i) retrained();
  const std::vector<double> after = retrained();
  REQUIRE((before.size() == 3 && after.size() == 3));  // page, worker, worker of the shown rival
  CHECK(after[0] < before[0] * 1.1 + 2e6);
  CHECK(after[1] < before[1] * 1.05 + 1e5);
}

TEST_CASE("page text: a run goes to fledge and comes back") {
  const Folder folder;
  Chromium browser;
  browser.call("Browser.setDownloadBehavior",
               {{"behavior", "allow"}, {"downloadPath", folder.path()}});
  opened(browser, birds_page());
  learned(browser);
  const std::string next = browser.text("t.next()"),
                    run = downloaded(browser, folder, "#save-run", "run.safetensors"),
                    text = downloaded(browser, folder, "#save-text", "text.txt");
  CHECK(text_of(text) == browser.text("page.text"));
  // fledge reads the folder of the file: the loss is near the floor, and it says what follows.
  const StrictJson eval =
      strict_json(output_of("fledge eval " + folder.path() + " " + text + " --json"));
  CHECK(eval["loss"].number() < browser.number("model.baselines.floor") + 0.2);
  CHECK_THAT(output_of("fledge generate " + folder.path() +
                       " 'birds sometimes walk' --temperature 0 --tokens-out 1"),
             ContainsSubstring("slowly"));
  // And back: this run, and one of another text that fledge has trained.
  opened(browser, birds_page());
  CHECK(browser.text("t.next()") != next);
  browser.drop("#own-text", run);
  browser.until("model.trains && state.step === 500");
  check_steps(browser, {{"change({})", "true"}});
  CHECK(browser.text("t.next()") == next);
  browser.drop("#own-text", poem_run() / "run/run.safetensors");
  browser.until("model.layers === 2 && seen.attention.length === 2");
  check_steps(browser, {{"t.put('#own', 'the cat sat')", "seen.tokens.at(-1) === 'sat'"}});
  CHECK(browser.text("t.isShown('#trouble') ? t.text('#trouble') : ''") == "");
  check_quiet(browser);
}

TEST_CASE("page text: the policy blocks a script that somebody adds") {
  const Folder folder;
  Chromium browser;
  write_file(folder / "injected.js", "window.__xss = 1");
  for (const std::string injected :
       {"<script>window.__xss = 1</script>", "<img src=x onerror='window.__xss = 1'>",
        "<script src=injected.js></script>",
        "<iframe srcdoc='<script>parent.__xss = 1</script>'></iframe>",
        "<style>body { --injected: 1 }</style>", "<body onload='window.__xss = 1'>"}) {
    INFO(injected);
    std::string html = text_of(birds_page());
    html.insert(html.find("<script type="), injected);
    write_file(folder / "injected.html", html);
    opened(browser, folder / "injected.html");
    CHECK(browser.is_true("window.__xss === undefined"));
    CHECK(browser.text("getComputedStyle(document.body).getPropertyValue('--injected')") == "");
    CHECK(browser.messages() != "");
  }
  // What the page itself would insert, compile or fetch; and that these tests see faults.
  opened(browser, birds_page());
  for (const auto& [script, word] :
       {std::pair{"document.body.innerHTML = '<b>text</b>'", "TrustedHTML"},
        {"setTimeout('1')", "TrustedScript"},
        {"new Worker('data:text/javascript,1')", "TrustedScriptURL"},
        {"fetch('https://example.com/')", "fetch"}})
    CHECK_THROWS_WITH(browser.evaluate(script), ContainsSubstring(word));
  browser.evaluate("console.error('seen', 3); setTimeout(() => { throw new Error('thrown'); })");
  for (const char* part : {"\"seen\"", "Error: thrown", "ContentSecurityPolicyIssue"})
    CHECK_THAT(browser.messages(), ContainsSubstring(part));
  CHECK(browser.text("fledgeErrors.join()") != "");
}

TEST_CASE("page runs: excerpts are whole, units named, what if possible; one step has no slider") {
  Chromium browser;
  const std::string whole = "The old keeper counted the lamps.";
  for (const auto& [unit, text, options, kept, sentence] :
       {std::tuple{"character", prose, "char --context 40 --width 16", 3, whole},
        {"character", prose, "char --context 8 --width 16", 3, "The old"},
        {"word", prose, "word --context 10 --layers 2 --width 256", 1, whole},
        {"byte", "\xFF\n" + prose + "\xFF", "byte --context 40 --width 16", 3, whole},
        {"token", prose, "bpe --symbols 270 --context 8 --width 16", 3, "The old"}}) {
    INFO(options);
    browser.window(1280, 9000);  // all parts are near the window, so that each is drawn
    open_run(browser, text + prose, std::string("--steps 2 --batch 2 --tokens ") + options);
    CHECK(browser.text("state.sentence") == sentence);
    CHECK(browser.is_true("t.text('#stage').endsWith('\u2026')") == (sentence != whole));
    CHECK(other_units(browser, unit) == "");
    CHECK(browser.number("learning.kept.length") == kept);
    for (const char* part : {"#time", "#go"})
      CHECK(browser.is_true("t.isShown('" + std::string(part) + "')") == (kept > 1));
    if (kept > 1) browser.evaluate("t.click('#go')");
    browser.until("learning.hasBegun && !learning.isOn");
    // The first token is one like others.
    check_steps(browser, {{"t.put('#own', 'The old keeper')", "seen.tokens.length > 2"},
                          {"change({key: 0, query: 2}).then(() => t.click('#hide'))",
                           "state.hidden.has(0) && row()[0] === 0"}});
    browser.evaluate("t.put('#set-layers', 1); t.put('#set-steps', 3); t.click('#train')");
    browser.until("t.text('#train') === 'Train it beside this one'");
    check_steps(browser, {{"", "rivals.at(-1).losses.length === 3"}});
    // Another one, begun from an earlier step, while the first is still shown.
    browser.evaluate("showStep(0).then(() => { t.put('#set-steps', 2); t.click('#train'); })");
    browser.until("rivals.length === 2 && t.text('#train') === 'Train it beside this one'");
    check_steps(browser, {{"", "rivals.at(-1).losses.length === 2 && !t.isShown('#trouble')"}});
    CHECK(other_units(browser, unit) == "");
    check_quiet(browser);
    browser.evaluate("change({query: -1})");
    browser.window(200, 900);  // turned, a screen still shows what looks, the last token
    browser.until(
        "(({scrollLeft, clientWidth}, {offsetLeft}) => offsetLeft > scrollLeft && "
        "offsetLeft < scrollLeft + clientWidth)(t.one('#stage'), t.one('#stage .looks'))");
  }
}

}  // namespace testing
