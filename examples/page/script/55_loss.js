// How wrong it is: a ladder of losses of this model, of its rivals, and of tables of counts.

const rivals = [];  // {name, losses}; 65_switches.js trains them; no losses: no bar

// {name, loss, kind}, the highest loss first.
function ladder() {
  const {guessing, tables, floor} = model.baselines;
  const tested = learning.isRecorded && page.held_out.find(([step]) => step >= state.step);
  return [{name: "blind guess", loss: guessing}, {name: "floor", loss: floor},
    {name: "counting each", loss: tables?.[0]},
    {name: "best table", loss: tables?.[1] && tables.at(-1)},
    {name: "held-out text", loss: tested?.[1], kind: "chosen-bar"},
    {name: "this model", loss: lossNow(), kind: "chosen-bar"},
    ...rivals.map(({name, losses}) => ({name, loss: lastLoss(losses), kind: "rival-bar"}))]
    .filter(({loss}) => Number.isFinite(loss)).sort((a, b) => b.loss - a.loss);
}

const lastLoss = (losses) => meanLoss(losses, losses.length - 1, 1);

function lossPart() {
  const list = element("ol", {class: "bars ladder"}), inWords = element("p", {class: "in-words"});
  const part = section("loss", "How wrong it is",
    prose("The *loss* is how surprised the model is by the true next #. Tables that only count, " +
      "each # or what comes after the last few, are its rivals: a model that has learned is " +
      "below them. No fair model gets below the *floor*."), list, inWords);
  return follow(() => {
    const loss = lossNow(), all = ladder(), top = all[0].loss;
    list.replaceChildren(...all.map((one) =>
      barRow(one.name, one.loss / top, fixed(one.loss, 2), {class: one.kind}).node));
    const choices = fixed(Math.exp(loss), 1);
    inWords.textContent = Number.isNaN(loss) ? "" : `At step ${thousands(state.step)} the loss ` +
      `is ${fixed(loss, 2)}: as unsure as choosing blindly among ${choices} ${unit()}s.`;
  }, part);
}
