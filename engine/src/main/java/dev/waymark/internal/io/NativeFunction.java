package dev.waymark.internal.io;

import com.kenai.jffi.CallContext;
import com.kenai.jffi.CallingConvention;
import com.kenai.jffi.Invoker;
import com.kenai.jffi.LastError;
import com.kenai.jffi.Library;
import com.kenai.jffi.Type;
import java.util.Arrays;

/**
 * A function of the C library whose arguments are all integers or addresses. Bound through jffi,
 * the lowest layer that Chronicle brings along: a binding through jnr-ffi generates classes, which
 * alone takes more time than all the rest of the first open.
 */
final class NativeFunction {
  private static final Invoker INVOKER = Invoker.getInstance();

  private final CallContext context;
  private final long address;
  private final int parameterCount;

  private NativeFunction(CallContext context, long address, int parameterCount) {
    this.context = context;
    this.address = address;
    this.parameterCount = parameterCount;
  }

  /**
   * Binds a function.
   *
   * @param fixedCount how many parameters come before the variable ones
   * @return null where the C library has no such function
   */
  static NativeFunction bind(String name, Type result, int fixedCount, int parameterCount) {
    long address = Library.getDefault().getSymbolAddress(name);
    if (address == 0) {
      return null;
    }
    Type[] parameters = new Type[parameterCount];
    Arrays.fill(parameters, Type.SINT64);
    CallContext context =
        fixedCount == parameterCount
            ? CallContext.getCallContext(result, parameters, CallingConvention.DEFAULT, true)
            : CallContext.getCallContext(
                result, fixedCount, parameters, CallingConvention.DEFAULT, true);
    return new NativeFunction(context, address, parameterCount);
  }

  /** The error of this thread's last failed call; stale after one that succeeded. */
  static int lastError() {
    return LastError.getInstance().get();
  }

  long call(long... arguments) {
    if (arguments.length != parameterCount) {
      throw new IllegalArgumentException("expected " + parameterCount + " arguments");
    }
    return switch (parameterCount) {
      case 1 -> INVOKER.invokeN1(context, address, arguments[0]);
      case 2 -> INVOKER.invokeN2(context, address, arguments[0], arguments[1]);
      case 3 -> INVOKER.invokeN3(context, address, arguments[0], arguments[1], arguments[2]);
      case 4 ->
          INVOKER.invokeN4(
              context, address, arguments[0], arguments[1], arguments[2], arguments[3]);
      case 5 ->
          INVOKER.invokeN5(
              context,
              address,
              arguments[0],
              arguments[1],
              arguments[2],
              arguments[3],
              arguments[4]);
      default -> throw new IllegalStateException("no call of " + parameterCount + " arguments");
    };
  }
}
