#include "textflag.h"

// rotate16 rotates each 64-bit lane by 16 bits.
DATA rotate16<>+0(SB)/8, $0x0504030201000706
DATA rotate16<>+8(SB)/8, $0x0d0c0b0a09080f0e
DATA rotate16<>+16(SB)/8, $0x0504030201000706
DATA rotate16<>+24(SB)/8, $0x0d0c0b0a09080f0e
GLOBL rotate16<>(SB), RODATA|NOPTR, $32

DATA length<>+0(SB)/8, $0x0800000000000000
GLOBL length<>(SB), RODATA|NOPTR, $8

DATA end<>+0(SB)/8, $0xff
GLOBL end<>(SB), RODATA|NOPTR, $8

// ROUND is SipHash's permutation of four states; t is scratch.
#define ROUND(v0, v1, v2, v3, t) \
	VPADDQ  v1, v0, v0   \
	VPADDQ  v3, v2, v2   \
	VPSLLQ  $13, v1, t   \
	VPSRLQ  $51, v1, v1  \
	VPSHUFB Y12, v3, v3  \
	VPOR    t, v1, v1    \
	VPXOR   v2, v3, v3   \
	VPXOR   v0, v1, v1   \
	VPSHUFD $0xB1, v0, v0 \
	VPADDQ  v3, v0, v0   \
	VPADDQ  v1, v2, v2   \
	VPSLLQ  $21, v3, t   \
	VPSRLQ  $43, v3, v3  \
	VPOR    t, v3, v3    \
	VPXOR   v0, v3, v3   \
	VPSLLQ  $17, v1, t   \
	VPSRLQ  $47, v1, v1  \
	VPOR    t, v1, v1    \
	VPXOR   v2, v1, v1   \
	VPSHUFD $0xB1, v2, v2

// BOTH is a round of eight states.
#define BOTH \
	ROUND(Y0, Y1, Y2, Y3, Y10) \
	ROUND(Y5, Y6, Y7, Y8, Y11)

// func sipBlocks(initial *[4]uint64, words *uint64, blocks int)
// AVX2: SipHash-1-3 of eight words at a time, two registers of four.
TEXT ·sipBlocks(SB), NOSPLIT, $0-24
	MOVQ         initial+0(FP), DI
	MOVQ         words+8(FP), SI
	MOVQ         blocks+16(FP), CX
	VMOVDQU      rotate16<>(SB), Y12
	VPBROADCASTQ length<>(SB), Y13
	VPBROADCASTQ end<>(SB), Y14

loop:
	VMOVDQU      (SI), Y4
	VMOVDQU      32(SI), Y9
	VPBROADCASTQ (DI), Y0
	VPBROADCASTQ 8(DI), Y1
	VPBROADCASTQ 16(DI), Y2
	VPBROADCASTQ 24(DI), Y3
	VMOVDQA      Y0, Y5
	VMOVDQA      Y1, Y6
	VMOVDQA      Y2, Y7
	VPXOR        Y9, Y3, Y8
	VPXOR        Y4, Y3, Y3
	BOTH
	VPXOR        Y4, Y0, Y0
	VPXOR        Y9, Y5, Y5
	VPXOR        Y13, Y3, Y3
	VPXOR        Y13, Y8, Y8
	BOTH
	VPXOR        Y13, Y0, Y0
	VPXOR        Y13, Y5, Y5
	VPXOR        Y14, Y2, Y2
	VPXOR        Y14, Y7, Y7
	BOTH
	BOTH
	BOTH
	VPXOR        Y1, Y0, Y0
	VPXOR        Y3, Y2, Y2
	VPXOR        Y6, Y5, Y5
	VPXOR        Y8, Y7, Y7
	VPXOR        Y2, Y0, Y0
	VPXOR        Y7, Y5, Y5
	VMOVDQU      Y0, (SI)
	VMOVDQU      Y5, 32(SI)
	ADDQ         $64, SI
	DECQ         CX
	JNZ          loop
	VZEROUPPER
	RET
