// Lights up the sentences of the article that share words with the summary one is at.
// Rule: at least three different words of four letters or more in common.
const SHARED = 3;

export class Overlap {
  constructor(article) {
    this.sentences = [...article.querySelectorAll(".sentence")].map((place) => ({ place, words: words(place) }));
    this.on = false;
    this.card = null;
  }

  toggle(card) {
    this.on = !this.on;
    this.follow(card, true);
    return this.on;
  }

  follow(card, anew = false) {
    if (card === this.card && !anew) return;
    this.card = card;
    const summaryWords = card ? words(card.querySelector(".prose")) : new Set();
    for (const { place, words: sentenceWords } of this.sentences) {
      const shared = [...sentenceWords].filter((word) => summaryWords.has(word)).length;
      place.classList.toggle("lit", this.on && shared >= SHARED);
    }
  }
}

function words(place) {
  return new Set(place.textContent.toLowerCase().match(/\p{L}{4,}/gu) ?? []);
}
