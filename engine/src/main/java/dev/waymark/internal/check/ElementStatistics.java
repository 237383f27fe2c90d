package dev.waymark.internal.check;

import dev.waymark.layout.DType;
import java.nio.ByteOrder;
import org.agrona.DirectBuffer;

/**
 * What the elements of a tensor are like, without showing them. Not finite ones are only counted.
 */
public final class ElementStatistics {
  private final DType dtype;
  private long elements;
  private long zeros;
  private long notFinite;
  private double least = Double.POSITIVE_INFINITY;
  private double most = Double.NEGATIVE_INFINITY;
  private double sum;
  private double sumOfSquares;

  /** Statistics of no elements yet. */
  public ElementStatistics(DType dtype) {
    this.dtype = dtype;
  }

  /** Adds the elements of a range, little-endian. */
  public void add(DirectBuffer buffer, int index, int lengthBytes) {
    int size = dtype.sizeBytes();
    for (int at = index; at + size <= index + lengthBytes; at += size) {
      double value = value(buffer, at);
      elements++;
      if (!Double.isFinite(value)) {
        notFinite++;
        continue;
      }
      zeros += value == 0 ? 1 : 0;
      least = Math.min(least, value);
      most = Math.max(most, value);
      sum += value;
      sumOfSquares += value * value;
    }
  }

  private double value(DirectBuffer buffer, int at) {
    return switch (dtype) {
      case BOOL, U8 -> buffer.getByte(at) & 0xFF;
      case I8 -> buffer.getByte(at);
      case F8_E5M2 -> half((buffer.getByte(at) & 0xFF) << 8);
      case F8_E4M3 -> e4m3(buffer.getByte(at) & 0xFF);
      case I16 -> buffer.getShort(at, ByteOrder.LITTLE_ENDIAN);
      case U16 -> buffer.getShort(at, ByteOrder.LITTLE_ENDIAN) & 0xFFFF;
      case F16 -> half(buffer.getShort(at, ByteOrder.LITTLE_ENDIAN) & 0xFFFF);
      case BF16 -> Float.intBitsToFloat(buffer.getShort(at, ByteOrder.LITTLE_ENDIAN) << 16);
      case I32 -> buffer.getInt(at, ByteOrder.LITTLE_ENDIAN);
      case U32 -> Integer.toUnsignedLong(buffer.getInt(at, ByteOrder.LITTLE_ENDIAN));
      case F32 -> buffer.getFloat(at, ByteOrder.LITTLE_ENDIAN);
      case F64 -> buffer.getDouble(at, ByteOrder.LITTLE_ENDIAN);
      case I64 -> buffer.getLong(at, ByteOrder.LITTLE_ENDIAN);
      case U64 -> unsigned(buffer.getLong(at, ByteOrder.LITTLE_ENDIAN));
    };
  }

  private static double unsigned(long value) {
    return value >= 0 ? value : (value >>> 1) * 2.0 + (value & 1);
  }

  /** IEEE half: 5 bits of exponent, 10 of fraction. */
  private static double half(int bits) {
    int exponent = bits >> 10 & 0x1F;
    int fraction = bits & 0x3FF;
    double size;
    if (exponent == 0x1F) {
      size = fraction == 0 ? Double.POSITIVE_INFINITY : Double.NaN;
    } else if (exponent == 0) {
      size = Math.scalb((double) fraction, -24);
    } else {
      size = Math.scalb((double) (fraction | 0x400), exponent - 25);
    }
    return (bits & 0x8000) == 0 ? size : -size;
  }

  /** 4 bits of exponent, 3 of fraction; no infinities, one NaN of either sign. */
  private static double e4m3(int bits) {
    int exponent = bits >> 3 & 0xF;
    int fraction = bits & 7;
    double size;
    if (exponent == 0xF && fraction == 7) {
      size = Double.NaN;
    } else if (exponent == 0) {
      size = Math.scalb((double) fraction, -9);
    } else {
      size = Math.scalb((double) (fraction | 8), exponent - 10);
    }
    return (bits & 0x80) == 0 ? size : -size;
  }

  /** Elements in all. */
  public long elements() {
    return elements;
  }

  /** Elements that are 0. */
  public long zeros() {
    return zeros;
  }

  /** Elements that are no number, or infinite. */
  public long notFinite() {
    return notFinite;
  }

  /** The least finite element, 0 where there is none. */
  public double least() {
    return finite() == 0 ? 0 : least;
  }

  /** The greatest finite element, 0 where there is none. */
  public double most() {
    return finite() == 0 ? 0 : most;
  }

  /** The mean of the finite elements, 0 where there are none. */
  public double mean() {
    return finite() == 0 ? 0 : sum / finite();
  }

  /** How far the finite elements are from their mean: the standard deviation. */
  public double deviation() {
    return finite() == 0 ? 0 : Math.sqrt(Math.max(0, sumOfSquares / finite() - mean() * mean()));
  }

  private long finite() {
    return elements - notFinite;
  }
}
