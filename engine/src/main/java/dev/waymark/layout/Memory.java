package dev.waymark.layout;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.error.ViewMismatchException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.List;
import org.agrona.BufferUtil;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.UnsafeApi;

/**
 * Bytes that a caller owns: one buffer, several in order, or an address with a length and the
 * object that keeps it alive. Positions are from the first byte of the first piece; a buffer counts
 * from its position to its limit as they are now, and neither moves.
 */
public final class Memory {
  private final Object[] bases;
  private final long[] addresses;
  private final long[] ends;
  private final boolean writable;
  private final Object owner;

  private Memory(Object[] bases, long[] addresses, long[] ends, boolean writable, Object owner) {
    this.bases = bases;
    this.addresses = addresses;
    this.ends = ends;
    this.writable = writable;
    this.owner = owner;
  }

  /**
   * {@return buffers, direct or on the heap, as one run of bytes}
   *
   * @param buffers in the order in which they follow each other
   */
  public static Memory of(ByteBuffer... buffers) {
    return of(List.of(buffers));
  }

  /**
   * {@return buffers, direct or on the heap, as one run of bytes}
   *
   * @param buffers in the order in which they follow each other
   */
  public static Memory of(List<ByteBuffer> buffers) {
    Object[] bases = new Object[buffers.size()];
    long[] addresses = new long[buffers.size()];
    long[] ends = new long[buffers.size()];
    boolean writable = true;
    long end = 0;
    for (int i = 0; i < bases.length; i++) {
      ByteBuffer buffer = buffers.get(i);
      if (buffer.isDirect()) {
        addresses[i] = BufferUtil.address(buffer) + buffer.position();
      } else {
        bases[i] = BufferUtil.array(buffer);
        addresses[i] =
            BufferUtil.ARRAY_BASE_OFFSET + BufferUtil.arrayOffset(buffer) + buffer.position();
      }
      end += buffer.remaining();
      ends[i] = end;
      writable &= !buffer.isReadOnly();
    }
    return new Memory(bases, addresses, ends, writable, List.copyOf(buffers));
  }

  /**
   * {@return memory at an address, writable}
   *
   * @param address of the first byte
   * @param lengthBytes how many bytes there are
   * @param owner kept reachable as long as this object is; may be null for memory that outlives it
   */
  public static Memory ofAddress(long address, long lengthBytes, Object owner) {
    if (address == 0 || lengthBytes < 0) {
      throw new InvalidArgumentException(
          ErrorDetail.of("memory at an address is not valid")
              .expected("an address other than 0 and a length of 0 or more")
              .found("length " + lengthBytes));
    }
    return new Memory(new Object[1], new long[] {address}, new long[] {lengthBytes}, true, owner);
  }

  /** {@return bytes in all} */
  public long lengthBytes() {
    return ends.length == 0 ? 0 : ends[ends.length - 1];
  }

  /** {@return whether a restore may write here} */
  public boolean isWritable() {
    return writable;
  }

  /**
   * Copies {@code length} bytes out to {@code target}.
   *
   * @param offset first byte of this memory
   * @param target where the bytes go
   * @param targetIndex first byte there
   * @param length how many bytes
   */
  public void get(long offset, MutableDirectBuffer target, int targetIndex, int length) {
    target.boundsCheck(targetIndex, length);
    copy(offset, target.byteArray(), target.addressOffset() + targetIndex, length, false);
    Reference.reachabilityFence(target);
  }

  /**
   * Copies {@code length} bytes in from {@code source}.
   *
   * @param offset first byte of this memory
   * @param source where the bytes come from
   * @param sourceIndex first byte there
   * @param length how many bytes
   */
  public void put(long offset, DirectBuffer source, int sourceIndex, int length) {
    if (!writable) {
      throw new ViewMismatchException(
          ErrorDetail.of("a restore was given memory that is read-only")
              .expected("writable buffers")
              .found("a read-only buffer"));
    }
    source.boundsCheck(sourceIndex, length);
    copy(offset, source.byteArray(), source.addressOffset() + sourceIndex, length, true);
    Reference.reachabilityFence(source);
  }

  private void copy(long offset, Object other, long otherAddress, int length, boolean inwards) {
    if (offset < 0 || length > lengthBytes() - offset) {
      throw new ViewMismatchException(
          ErrorDetail.of("a view reaches outside its memory")
              .expected("at most " + lengthBytes() + " bytes")
              .found("byte " + (offset + length)));
    }
    int piece = pieceOf(offset);
    long at = offset;
    long there = otherAddress;
    int left = length;
    while (left > 0) {
      long start = piece == 0 ? 0 : ends[piece - 1];
      int run = (int) Math.min(left, ends[piece] - at);
      long here = addresses[piece] + (at - start);
      if (inwards) {
        UnsafeApi.copyMemory(other, there, bases[piece], here, run);
      } else {
        UnsafeApi.copyMemory(bases[piece], here, other, there, run);
      }
      at += run;
      there += run;
      left -= run;
      piece++;
    }
    Reference.reachabilityFence(owner);
  }

  private int pieceOf(long offset) {
    int piece = 0;
    while (piece < ends.length - 1 && offset >= ends[piece]) {
      piece++;
    }
    return piece;
  }
}
