#include "textflag.h"

// func maxBlocks(a, b *uint8, blocks int)
// SSE2, which every amd64 processor has: 64 registers of a and b at a time.
TEXT ·maxBlocks(SB), NOSPLIT, $0-24
	MOVQ a+0(FP), DI
	MOVQ b+8(FP), SI
	MOVQ blocks+16(FP), CX

loop:
	TESTQ  CX, CX
	JZ     done
	MOVOU  (SI), X0
	MOVOU  16(SI), X1
	MOVOU  32(SI), X2
	MOVOU  48(SI), X3
	MOVOU  (DI), X4
	MOVOU  16(DI), X5
	MOVOU  32(DI), X6
	MOVOU  48(DI), X7
	PMAXUB X4, X0
	PMAXUB X5, X1
	PMAXUB X6, X2
	PMAXUB X7, X3
	MOVOU  X0, (DI)
	MOVOU  X1, 16(DI)
	MOVOU  X2, 32(DI)
	MOVOU  X3, 48(DI)
	ADDQ   $64, SI
	ADDQ   $64, DI
	DECQ   CX
	JMP    loop

done:
	RET
