#include "textflag.h"

#define CLONE_FLAGS 0x4111 // CLONE_VM | CLONE_VFORK | SIGCHLD

// func vfork() (pid uintptr, errno syscall.Errno)
TEXT ·vfork(SB), NOSPLIT|NOFRAME, $0-16
	MOVD $CLONE_FLAGS, R0
	MOVD ZR, R1
	MOVD ZR, R2
	MOVD ZR, R3
	MOVD ZR, R4
	MOVD $220, R8 // clone
	SVC
	MOVD ZR, errno+8(FP)
	CMN  $4095, R0
	BCC  done
	NEG  R0, R0
	MOVD R0, errno+8(FP)
	MOVD ZR, R0

done:
	MOVD R0, pid+0(FP)
	RET
