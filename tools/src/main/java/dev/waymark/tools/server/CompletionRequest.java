package dev.waymark.tools.server;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * What a client asks for.
 *
 * @param prompt the text
 * @param maxTokens tokens to generate
 * @param stream whether they are to be sent as they come
 */
record CompletionRequest(String prompt, int maxTokens, boolean stream) {
  private static final int DEFAULT_TOKENS = 16;
  private static final int MOST_TOKENS = 4_096;

  /** One object, each of its fields once, and nothing behind it. */
  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  static CompletionRequest parse(byte[] body) throws BadRequestException {
    JsonNode root;
    try {
      // A new decoder refuses what a String would replace without a word.
      root =
          JSON.readTree(
              StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString());
    } catch (CharacterCodingException e) {
      throw bad("the body is not UTF-8");
    } catch (JsonProcessingException e) {
      // What is nested too deep, or too long, has no place.
      throw bad(
          "the body is not JSON that can be read, one object with each field once"
              + (e.getLocation() == null
                  ? ""
                  : ": an error at line " + e.getLocation().getLineNr()));
    }
    JsonNode prompt = root.path("prompt");
    if (!prompt.isTextual() || prompt.textValue().isEmpty()) {
      throw bad("expected 'prompt', a text that is not empty");
    }
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(prompt.textValue())) {
      throw bad("expected 'prompt' of whole characters, found half of a surrogate pair");
    }
    JsonNode tokens = root.path("max_tokens");
    if (!tokens.isMissingNode()
        && (!tokens.isInt() || tokens.intValue() < 0 || tokens.intValue() > MOST_TOKENS)) {
      throw bad("expected 'max_tokens', 0 to " + MOST_TOKENS);
    }
    JsonNode stream = root.path("stream");
    if (!stream.isMissingNode() && !stream.isBoolean()) {
      throw bad("expected 'stream', true or false");
    }
    return new CompletionRequest(
        prompt.textValue(), tokens.asInt(DEFAULT_TOKENS), stream.asBoolean(false));
  }

  private static BadRequestException bad(String message) {
    return new BadRequestException(400, "REQUEST", message);
  }
}
