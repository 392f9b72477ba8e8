// Numbers as text and back, for the module (../engine/interface.h). `bytes(at, size)`: its memory.
function numberFunctions(bytes) {
  return {
    write_digits(number, count, to) {
      // Exactly in the middle JavaScript rounds up, C++ to the even digit.
      const all = number.toExponential(100).replace(".", "");
      const isDown = all[count - 1] % 2 === 0 && /^50*e/.test(all.slice(count));
      const [digits, exponent] = isDown ? [all, all.split("e")[1]] :
        number.toExponential(count - 1).replace(".", "").split("e");
      bytes(to, count).forEach((_, i, place) => { place[i] = digits.charCodeAt(i); });
      return Number(exponent);
    },
    read_number: (at, size) => Number(String.fromCharCode(...bytes(at, size)))};
}
