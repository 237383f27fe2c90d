package dev.waymark.plant;

import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;

/**
 * A change to one method of one class.
 *
 * @param className the class, without {@code dev.waymark.}
 * @param method its method; those of its lambdas are named {@code lambda$method$}
 * @param member the call or field in it that is changed, with the name of its class where another
 *     has the same; empty for the whole method
 * @param kind how it is changed
 * @param value what is left instead: a constant, or the method of {@code slip} that is called
 */
record Patch(String className, String method, String member, Kind kind, Object value) {
  private static final int API = Opcodes.ASM9;

  /** What is changed. */
  enum Kind {
    /** The call is not made; it seems to return the constant. */
    SKIP,
    /** A static method is called instead, with the object first and then the arguments. */
    REPLACE,
    /** Another method of the same object is called. */
    RENAME,
    /** The field keeps its value. */
    NO_STORE,
    /** Another field is read. */
    READ_OTHER,
    /** The method does nothing but return the constant. */
    ANSWER
  }

  static Patch skip(String className, String method, String call) {
    return new Patch(className, method, call, Kind.SKIP, 0);
  }

  static Patch skip(String className, String method, String call, int answer) {
    return new Patch(className, method, call, Kind.SKIP, answer);
  }

  /** The class and method to call, without {@code dev.waymark.}. */
  static Patch replace(String className, String method, String call, String by) {
    return new Patch(className, method, call, Kind.REPLACE, by);
  }

  static Patch rename(String className, String method, String call, String by) {
    return new Patch(className, method, call, Kind.RENAME, by);
  }

  static Patch noStore(String className, String method, String field) {
    return new Patch(className, method, field, Kind.NO_STORE, 0);
  }

  static Patch readOther(String className, String method, String field, String other) {
    return new Patch(className, method, field, Kind.READ_OTHER, other);
  }

  static Patch answer(String className, String method, int answer) {
    return new Patch(className, method, "", Kind.ANSWER, answer);
  }

  String fullClassName() {
    return "dev.waymark." + className;
  }

  /**
   * The class with this change.
   *
   * @throws IllegalStateException if what is to be changed is not there
   */
  byte[] apply(byte[] classFile) {
    int[] changed = new int[1];
    ClassReader reader = new ClassReader(classFile);
    ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
    reader.accept(
        new ClassVisitor(API, writer) {
          @Override
          public MethodVisitor visitMethod(
              int access, String name, String descriptor, String signature, String[] exceptions) {
            MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
            boolean lambda = method.endsWith("$") && name.startsWith(method);
            if (!lambda && !name.equals(method)) {
              return next;
            }
            if (kind == Kind.ANSWER) {
              changed[0]++;
              answer(next, access, descriptor);
              return null;
            }
            return new Changer(next, changed);
          }
        },
        0);
    if (changed[0] == 0) {
      throw new IllegalStateException("nothing to change: " + this);
    }
    return writer.toByteArray();
  }

  private void answer(MethodVisitor target, int access, String descriptor) {
    target.visitCode();
    push(target, Type.getReturnType(descriptor));
    target.visitInsn(Type.getReturnType(descriptor).getOpcode(Opcodes.IRETURN));
    target.visitMaxs(0, 0);
    target.visitEnd();
  }

  private void push(MethodVisitor target, Type type) {
    int constant = value instanceof Integer number ? number : 0;
    switch (type.getSort()) {
      case Type.VOID -> {}
      case Type.LONG -> target.visitLdcInsn(constant < 0 ? Long.MAX_VALUE : (long) constant);
      case Type.OBJECT, Type.ARRAY -> target.visitInsn(Opcodes.ACONST_NULL);
      default -> target.visitLdcInsn(constant);
    }
  }

  private static void pop(MethodVisitor target, Type type) {
    target.visitInsn(type.getSize() == 2 ? Opcodes.POP2 : Opcodes.POP);
  }

  private boolean isMember(String owner, String name) {
    return member.equals(name)
        || member.equals(owner.substring(owner.lastIndexOf('/') + 1) + "." + name);
  }

  private final class Changer extends MethodVisitor {
    private final int[] changed;

    Changer(MethodVisitor next, int[] changed) {
      super(API, next);
      this.changed = changed;
    }

    @Override
    public void visitMethodInsn(
        int opcode, String owner, String name, String descriptor, boolean isInterface) {
      if (!isMember(owner, name) || kind == Kind.NO_STORE || kind == Kind.READ_OTHER) {
        super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
        return;
      }
      changed[0]++;
      boolean isStatic = opcode == Opcodes.INVOKESTATIC;
      if (kind == Kind.RENAME) {
        super.visitMethodInsn(opcode, owner, (String) value, descriptor, isInterface);
      } else if (kind == Kind.REPLACE) {
        String by = "dev/waymark/" + ((String) value).replace('.', '/');
        int end = by.lastIndexOf('/');
        String arguments = isStatic ? descriptor : "(L" + owner + ";" + descriptor.substring(1);
        super.visitMethodInsn(
            Opcodes.INVOKESTATIC, by.substring(0, end), by.substring(end + 1), arguments, false);
      } else {
        Type[] arguments = Type.getArgumentTypes(descriptor);
        for (int i = arguments.length - 1; i >= 0; i--) {
          pop(mv, arguments[i]);
        }
        if (!isStatic) {
          mv.visitInsn(Opcodes.POP);
        }
        push(mv, Type.getReturnType(descriptor));
      }
    }

    @Override
    public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
      if (name.equals(member) && kind == Kind.NO_STORE && opcode == Opcodes.PUTFIELD) {
        changed[0]++;
        pop(mv, Type.getType(descriptor));
        mv.visitInsn(Opcodes.POP);
      } else if (name.equals(member) && kind == Kind.READ_OTHER && opcode == Opcodes.GETFIELD) {
        changed[0]++;
        super.visitFieldInsn(opcode, owner, (String) value, descriptor);
      } else {
        super.visitFieldInsn(opcode, owner, name, descriptor);
      }
    }
  }
}
