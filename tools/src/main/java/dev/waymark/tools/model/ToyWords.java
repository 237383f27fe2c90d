package dev.waymark.tools.model;

import java.util.List;
import java.util.stream.Stream;

/**
 * The words of {@link ToyTokenizer} and {@link ToyPrompts}. Their order gives the token ids, so new
 * ones go to the end of the last list.
 */
final class ToyWords {
  static final List<String> DETERMINERS =
      words("the a this that every some no each another one its our their my your his her any");

  static final List<String> PREPOSITIONS =
      words(
          "of in on under over near with without behind before after from to into through across"
              + " between against around beside inside outside above below along toward");

  static final List<String> CONJUNCTIONS = words("and but or so while because although until");

  static final List<String> VERBS =
      words(
          "is has sees finds keeps holds makes takes gives leaves reads writes moves turns follows"
              + " meets carries brings watches remembers forgets opens closes builds breaks hears"
              + " draws shows hides crosses passes reaches calls answers asks tells knows loves"
              + " needs wants counts measures cuts paints lifts drops sells buys saves loses wins"
              + " starts ends joins leads serves checks sends stores loads restores");

  static final List<String> NOUNS =
      words(
          "river mountain stone road bridge house garden tree forest field city village market"
              + " harbor ship boat train station window door room table chair lamp book page letter"
              + " word story song teacher student doctor farmer sailor painter writer reader king"
              + " queen child friend brother sister mother father stranger neighbor dog cat horse"
              + " bird fish wolf fox sheep sun moon star cloud rain snow wind storm fire water ice"
              + " sand hill valley lake sea island shore path wall tower clock bell key map coin"
              + " bread apple salt cup knife rope wheel engine machine server memory number answer"
              + " question reason problem plan idea law rule price measure circle line shape color"
              + " sound voice silence shadow light night morning evening winter summer spring"
              + " autumn year day hour minute moment journey game war peace dream promise secret"
              + " gift mistake lesson signal message record copy name place");

  static final List<String> ADJECTIVES =
      words(
          "old new young small large great little long short high low deep wide narrow heavy bright"
              + " dark red green blue white black golden silver warm cold wet dry clean quiet loud"
              + " slow fast early late strong weak rich poor kind proud brave careful gentle hidden"
              + " open broken empty full simple strange common rare sharp soft hard smooth rough"
              + " sweet bitter distant familiar foreign perfect plain wild wise");

  static final List<String> ADVERBS =
      words(
          "slowly quickly quietly often never always again soon already together alone carefully"
              + " gladly once twice here there everywhere somehow perhaps today tomorrow");

  private static final List<String> OTHERS =
      words(
          "it he she we they you I not if then when where why how what who which as at by for are"
              + " was were be been have had do does did will would can could may might must should"
              + " there's it's don't more most less least very too also only just even still yet"
              + " two three four five six seven eight nine ten hundred thousand first second last"
              + " next other such same both all many few much");

  /** Every word once. */
  static final List<String> ALL =
      Stream.of(DETERMINERS, PREPOSITIONS, CONJUNCTIONS, VERBS, NOUNS, ADJECTIVES, ADVERBS, OTHERS)
          .flatMap(List::stream)
          .distinct()
          .toList();

  private ToyWords() {}

  private static List<String> words(String spaced) {
    return List.of(spaced.split(" "));
  }
}
