// The word above (-1) or below (1) another one, nearest in a straight line; the same one where there is none.
export function wordBeyond(words, cursor, direction) {
  const here = words[cursor].getBoundingClientRect();
  const middle = (here.left + here.right) / 2;
  const boxes = words.map((word, place) => ({ place, box: word.getBoundingClientRect() }));
  const beyond = boxes.filter(({ box }) => (direction > 0 ? box.top >= here.bottom - 2 : box.bottom <= here.top + 2));
  if (!beyond.length) return cursor;
  const tops = beyond.map(({ box }) => box.top);
  const line = direction > 0 ? Math.min(...tops) : Math.max(...tops);
  const near = beyond.filter(({ box }) => Math.abs(box.top - line) < 4);
  const off = ({ box }) => Math.abs((box.left + box.right) / 2 - middle);
  return near.reduce((best, word) => (off(word) < off(best) ? word : best)).place;
}
