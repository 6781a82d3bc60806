#include "textflag.h"

// The child returns from vfork first and overwrites the return address, which is on the stack that both share.

#define CLONE_FLAGS 0x4111 // CLONE_VM | CLONE_VFORK | SIGCHLD

// func vfork() (pid uintptr, errno syscall.Errno)
TEXT ·vfork(SB), NOSPLIT|NOFRAME, $0-16
	MOVQ 0(SP), R13
	MOVQ $CLONE_FLAGS, DI
	XORQ SI, SI
	XORQ DX, DX
	XORQ R10, R10
	XORQ R8, R8
	MOVQ $56, AX // clone
	SYSCALL
	MOVQ R13, 0(SP)
	MOVQ $0, errno+8(FP)
	CMPQ AX, $-4095
	JCS  done
	NEGQ AX
	MOVQ AX, errno+8(FP)
	XORQ AX, AX

done:
	MOVQ AX, pid+0(FP)
	RET
