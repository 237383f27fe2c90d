package dev.waymark.tools.server;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

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
  private static final ObjectMapper JSON = new ObjectMapper();

  /** It cannot be understood; the message says why, and holds nothing of it. */
  static final class BadRequestException extends Exception {
    private static final long serialVersionUID = 1L;

    BadRequestException(String message) {
      super(message);
    }
  }

  static CompletionRequest parse(byte[] body) throws BadRequestException {
    JsonNode root;
    try {
      root = JSON.readTree(new String(body, java.nio.charset.StandardCharsets.UTF_8));
    } catch (JsonProcessingException e) {
      // What is nested too deep, or too long, has no place.
      throw new BadRequestException(
          "the body is not JSON that can be read"
              + (e.getLocation() == null
                  ? ""
                  : ": an error at line " + e.getLocation().getLineNr()));
    }
    JsonNode prompt = root.path("prompt");
    if (!prompt.isTextual() || prompt.textValue().isEmpty()) {
      throw new BadRequestException("expected 'prompt', a text that is not empty");
    }
    JsonNode tokens = root.path("max_tokens");
    if (!tokens.isMissingNode()
        && (!tokens.isInt() || tokens.intValue() < 0 || tokens.intValue() > MOST_TOKENS)) {
      throw new BadRequestException("expected 'max_tokens', 0 to " + MOST_TOKENS);
    }
    return new CompletionRequest(
        prompt.textValue(), tokens.asInt(DEFAULT_TOKENS), root.path("stream").asBoolean(false));
  }
}
