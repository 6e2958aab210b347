#include "textflag.h"

// func mergeSteps(out, outEnd, a, b, aEnd, bEnd *uint64, steps int) (bytesOfA, bytesOfAEnd int)
// The compiler keeps some of the four positions in memory, which doubles the time of a step.
TEXT ·mergeSteps(SB), NOSPLIT, $0-72
	MOVQ out+0(FP), DI
	MOVQ outEnd+8(FP), SI
	MOVQ a+16(FP), R8
	MOVQ b+24(FP), R9
	MOVQ aEnd+32(FP), R10
	MOVQ bEnd+40(FP), R11
	MOVQ steps+48(FP), CX

loop:
	MOVQ    (R8), AX
	MOVQ    (R9), BX
	LEAQ    8(R8), DX
	LEAQ    8(R9), R12
	MOVQ    BX, R13
	CMPQ    AX, BX
	CMOVQLS AX, R13
	CMOVQLS DX, R8           // a's is next
	CMOVQHI R12, R9
	MOVQ    R13, (DI)
	ADDQ    $8, DI
	MOVQ    (R10), AX
	MOVQ    (R11), BX
	LEAQ    -8(R10), DX
	LEAQ    -8(R11), R12
	MOVQ    BX, R13
	CMPQ    AX, BX
	CMOVQHI AX, R13
	CMOVQHI DX, R10          // a's is last
	CMOVQLS R12, R11
	MOVQ    R13, (SI)
	SUBQ    $8, SI
	DECQ    CX
	JNZ     loop

	SUBQ a+16(FP), R8
	MOVQ R8, bytesOfA+56(FP)
	MOVQ aEnd+32(FP), AX
	SUBQ R10, AX
	MOVQ AX, bytesOfAEnd+64(FP)
	RET

// func uniteSteps(out, outEnd, a, b, aEnd, bEnd *uint64, steps int) (bytesOfA, bytesOfB, bytesOfAEnd, bytesOfBEnd int)
TEXT ·uniteSteps(SB), NOSPLIT, $0-88
	MOVQ out+0(FP), DI
	MOVQ outEnd+8(FP), SI
	MOVQ a+16(FP), R8
	MOVQ b+24(FP), R9
	MOVQ aEnd+32(FP), R10
	MOVQ bEnd+40(FP), R11
	MOVQ steps+48(FP), CX

loop:
	MOVQ    (R8), AX
	MOVQ    (R9), BX
	LEAQ    8(R8), DX
	LEAQ    8(R9), R12
	MOVQ    BX, R13
	CMPQ    AX, BX
	CMOVQLS AX, R13
	CMOVQLS DX, R8
	CMOVQCC R12, R9
	MOVQ    R13, (DI)
	ADDQ    $8, DI
	MOVQ    (R10), AX
	MOVQ    (R11), BX
	LEAQ    -8(R10), DX
	LEAQ    -8(R11), R12
	MOVQ    BX, R13
	CMPQ    AX, BX
	CMOVQCC AX, R13
	CMOVQCC DX, R10
	CMOVQLS R12, R11
	MOVQ    R13, (SI)
	SUBQ    $8, SI
	DECQ    CX
	JNZ     loop

	SUBQ a+16(FP), R8
	MOVQ R8, bytesOfA+56(FP)
	SUBQ b+24(FP), R9
	MOVQ R9, bytesOfB+64(FP)
	MOVQ aEnd+32(FP), AX
	SUBQ R10, AX
	MOVQ AX, bytesOfAEnd+72(FP)
	MOVQ bEnd+40(FP), AX
	SUBQ R11, AX
	MOVQ AX, bytesOfBEnd+80(FP)
	RET
