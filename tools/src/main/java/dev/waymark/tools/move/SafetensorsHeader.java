package dev.waymark.tools.move;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import dev.waymark.layout.DType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The front of a safetensors file: 8 bytes with the header's length, then the header, a JSON object
 * of tensors and metadata. What this class holds has been found to agree: each tensor's bytes are
 * as many as its shape needs, and together they are all bytes behind the header, each once.
 *
 * <p>A pure function of bytes. Takes memory in proportion to the header, which is no longer than
 * the file; says what is wrong by {@link BadSafetensorsException} only.
 */
public final class SafetensorsHeader {
  /** Bytes in front of the header, which hold its length. */
  public static final int LENGTH_BYTES = 8;

  /** Longest header that the format allows. */
  public static final long MAX_HEADER_BYTES = 100_000_000;

  private static final String METADATA = "__metadata__";
  private static final int MAX_DIMS = 32;
  private static final int SHOWN_CHARACTERS = 80;

  private static final JsonFactory JSON =
      JsonFactory.builder().disable(JsonFactory.Feature.INTERN_FIELD_NAMES).build();

  private final long dataOffset;
  private final Map<String, String> metadata;
  private final List<Tensor> tensors;
  private final Map<String, Tensor> byName;

  /**
   * One tensor.
   *
   * @param beginBytes where its bytes begin, from the end of the header
   * @param endBytes one past the last
   */
  public record Tensor(String name, DType dtype, List<Long> shape, long beginBytes, long endBytes) {
    /** Bytes of it. */
    public long lengthBytes() {
      return endBytes - beginBytes;
    }
  }

  private SafetensorsHeader(
      long dataOffset, Map<String, String> metadata, Map<String, Tensor> byName) {
    this.dataOffset = dataOffset;
    this.metadata = Collections.unmodifiableMap(metadata);
    this.byName = byName;
    List<Tensor> inOrder = new ArrayList<>(byName.values());
    inOrder.sort(Comparator.comparingLong(Tensor::beginBytes).thenComparing(Tensor::endBytes));
    this.tensors = List.copyOf(inOrder);
  }

  /**
   * Reads the front of a file that is wholly in memory.
   *
   * @throws BadSafetensorsException if it is not what it should be
   */
  public static SafetensorsHeader parse(byte[] file) {
    long length = headerBytes(file, file.length);
    return parse(Arrays.copyOfRange(file, LENGTH_BYTES, LENGTH_BYTES + (int) length), file.length);
  }

  /**
   * The length of the header, before any memory is taken for it.
   *
   * @param front the first bytes of the file, {@link #LENGTH_BYTES} of them if there are as many
   * @param fileBytes length of the whole file
   * @throws BadSafetensorsException if no header of that length can be there
   */
  public static long headerBytes(byte[] front, long fileBytes) {
    if (front.length < LENGTH_BYTES) {
      throw bad(SafetensorsFault.TRUNCATED, LENGTH_BYTES + " bytes or more", front.length);
    }
    long length = ByteBuffer.wrap(front).order(ByteOrder.LITTLE_ENDIAN).getLong();
    if (length < 0 || length > MAX_HEADER_BYTES) {
      throw bad(
          SafetensorsFault.HEADER_TOO_LARGE,
          "at most " + MAX_HEADER_BYTES + " bytes",
          Long.toUnsignedString(length));
    }
    if (length > fileBytes - LENGTH_BYTES) {
      throw bad(
          SafetensorsFault.HEADER_BEYOND_FILE,
          "at most " + Math.max(0, fileBytes - LENGTH_BYTES) + " bytes",
          length);
    }
    return length;
  }

  /**
   * Reads a header.
   *
   * @param json the header's bytes
   * @param fileBytes length of the whole file
   * @throws BadSafetensorsException if it is not what it should be
   */
  public static SafetensorsHeader parse(byte[] json, long fileBytes) {
    long dataBytes = fileBytes - LENGTH_BYTES - json.length;
    // A second byte of 0 would make the parser take it for UTF-16 or UTF-32.
    if (json.length < 2 || json[0] != '{' || json[1] == 0) {
      throw bad(SafetensorsFault.HEADER_NOT_JSON, "an object in UTF-8", "something else");
    }
    Map<String, String> metadata = new LinkedHashMap<>();
    Map<String, Tensor> tensors = new HashMap<>();
    try (JsonParser in = JSON.createParser(json)) {
      in.nextToken();
      boolean metadataSeen = false;
      while (in.nextToken() != JsonToken.END_OBJECT) {
        String name = in.currentName();
        in.nextToken();
        if (name.equals(METADATA)) {
          if (metadataSeen) {
            throw duplicate(name);
          }
          metadataSeen = true;
          readMetadata(in, metadata);
        } else if (tensors.put(name, readTensor(in, name, dataBytes)) != null) {
          throw duplicate(name);
        }
      }
      if (in.nextToken() != null) {
        throw bad(SafetensorsFault.HEADER_NOT_JSON, "one object", "more behind it");
      }
    } catch (JsonProcessingException e) {
      // The parser's own message shows some of the text.
      throw bad(
          SafetensorsFault.HEADER_NOT_JSON,
          "JSON in UTF-8",
          "an error at byte " + Math.max(0, e.getLocation().getByteOffset()));
    } catch (IOException e) {
      throw bad(SafetensorsFault.HEADER_NOT_JSON, "JSON in UTF-8", "bytes that are not characters");
    }
    SafetensorsHeader header = new SafetensorsHeader(LENGTH_BYTES + json.length, metadata, tensors);
    header.requireEachByteOnce(dataBytes);
    return header;
  }

  private static void readMetadata(JsonParser in, Map<String, String> metadata) throws IOException {
    if (in.currentToken() != JsonToken.START_OBJECT) {
      throw bad(SafetensorsFault.BAD_METADATA, "an object", kind(in));
    }
    while (in.nextToken() != JsonToken.END_OBJECT) {
      String name = in.currentName();
      if (in.nextToken() != JsonToken.VALUE_STRING) {
        throw bad(SafetensorsFault.BAD_METADATA, "strings", kind(in));
      }
      if (metadata.put(name, in.getText()) != null) {
        throw duplicate(name);
      }
    }
  }

  private static Tensor readTensor(JsonParser in, String name, long dataBytes) throws IOException {
    if (in.currentToken() != JsonToken.START_OBJECT) {
      throw badTensor(name, "an object", kind(in));
    }
    DType dtype = null;
    List<Long> shape = null;
    List<Long> offsets = null;
    while (in.nextToken() != JsonToken.END_OBJECT) {
      String field = in.currentName();
      in.nextToken();
      boolean twice;
      switch (field) {
        case "dtype" -> {
          twice = dtype != null;
          dtype = dtype(in, name);
        }
        case "shape" -> {
          twice = shape != null;
          shape = numbers(in, name, MAX_DIMS);
        }
        case "data_offsets" -> {
          twice = offsets != null;
          offsets = numbers(in, name, 2);
        }
        default -> throw badTensor(name, "dtype, shape and data_offsets", "another field");
      }
      if (twice) {
        throw duplicate(name + "." + field);
      }
    }
    if (dtype == null || shape == null || offsets == null || offsets.size() != 2) {
      throw badTensor(name, "dtype, shape and two data_offsets", "fewer");
    }
    long begin = offsets.get(0);
    long end = offsets.get(1);
    if (begin < 0 || end < begin) {
      throw bad(SafetensorsFault.BAD_OFFSETS, "0 <= begin <= end", shown(name, begin, end));
    }
    if (end > dataBytes) {
      throw bad(
          SafetensorsFault.OFFSETS_BEYOND_FILE,
          "an end of at most " + dataBytes,
          shown(name, begin, end));
    }
    long bytes = sizeBytes(name, dtype, shape);
    if (bytes != end - begin) {
      throw bad(SafetensorsFault.SIZE_MISMATCH, bytes + " bytes", shown(name, begin, end));
    }
    return new Tensor(name, dtype, List.copyOf(shape), begin, end);
  }

  private static DType dtype(JsonParser in, String name) throws IOException {
    if (in.currentToken() != JsonToken.VALUE_STRING) {
      throw badTensor(name, "a dtype that is a string", kind(in));
    }
    for (DType dtype : DType.values()) {
      if (dtype.name().equals(in.getText())) {
        return dtype;
      }
    }
    throw bad(
        SafetensorsFault.UNKNOWN_DTYPE,
        "one of " + Arrays.toString(DType.values()),
        shown(in.getText()) + " of " + shown(name));
  }

  private static List<Long> numbers(JsonParser in, String name, int most) throws IOException {
    if (in.currentToken() != JsonToken.START_ARRAY) {
      throw badTensor(name, "an array of whole numbers", kind(in));
    }
    List<Long> numbers = new ArrayList<>();
    while (in.nextToken() != JsonToken.END_ARRAY) {
      if (in.currentToken() != JsonToken.VALUE_NUMBER_INT) {
        throw badTensor(name, "an array of whole numbers", kind(in));
      }
      if (in.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
        throw badTensor(name, "numbers of 63 bits", "a larger one");
      }
      if (numbers.size() == most) {
        throw badTensor(name, "at most " + most + " numbers", "more");
      }
      numbers.add(in.getLongValue());
    }
    return numbers;
  }

  private static long sizeBytes(String name, DType dtype, List<Long> shape) {
    long bytes = dtype.sizeBytes();
    boolean empty = shape.contains(0L);
    for (long dim : shape) {
      if (dim < 0) {
        throw bad(SafetensorsFault.BAD_SHAPE, "dims of 0 or more", dim + " in " + shown(name));
      }
      try {
        bytes = empty ? 0 : Math.multiplyExact(bytes, dim);
      } catch (ArithmeticException e) {
        throw bad(SafetensorsFault.BAD_SHAPE, "a size of 63 bits", "more in " + shown(name));
      }
    }
    return bytes;
  }

  private void requireEachByteOnce(long dataBytes) {
    long end = 0;
    for (Tensor tensor : tensors) {
      if (tensor.beginBytes() != end) {
        SafetensorsFault fault =
            tensor.beginBytes() < end
                ? SafetensorsFault.OVERLAPPING_OFFSETS
                : SafetensorsFault.HOLE;
        throw bad(
            fault,
            "a begin of " + end,
            shown(tensor.name(), tensor.beginBytes(), tensor.endBytes()));
      }
      end = tensor.endBytes();
    }
    if (end != dataBytes) {
      throw bad(SafetensorsFault.TRAILING_BYTES, end + " bytes of data", dataBytes);
    }
  }

  /** The metadata, in the file's order; empty where there is none. */
  public Map<String, String> metadata() {
    return metadata;
  }

  /** The tensors, in the order of their bytes. */
  public List<Tensor> tensors() {
    return tensors;
  }

  /** The tensor of a name, or null. */
  public Tensor tensor(String name) {
    return byName.get(name);
  }

  /** Where the data begins in the file. */
  public long dataOffset() {
    return dataOffset;
  }

  private static BadSafetensorsException duplicate(String key) {
    return bad(SafetensorsFault.DUPLICATE_KEY, "each key once", shown(key) + " twice");
  }

  private static BadSafetensorsException badTensor(String name, String expected, String found) {
    return bad(SafetensorsFault.BAD_TENSOR, expected, found + " in " + shown(name));
  }

  private static BadSafetensorsException bad(
      SafetensorsFault fault, Object expected, Object found) {
    return new BadSafetensorsException(fault, expected, found);
  }

  private static String kind(JsonParser in) {
    JsonToken token = in.currentToken();
    return token == null ? "the end" : token.name();
  }

  private static String shown(String name, long begin, long end) {
    return begin + " to " + end + " for " + shown(name);
  }

  /** A name from a file, fit for a line on a terminal. */
  static String shown(String name) {
    StringBuilder text = new StringBuilder("'");
    name.codePoints()
        .limit(SHOWN_CHARACTERS)
        .forEach(c -> text.appendCodePoint(Character.isISOControl(c) || !isPlain(c) ? '?' : c));
    return text.append(name.length() > SHOWN_CHARACTERS ? "...'" : "'").toString();
  }

  private static boolean isPlain(int codePoint) {
    int type = Character.getType(codePoint);
    return type != Character.FORMAT && type != Character.SURROGATE;
  }
}
