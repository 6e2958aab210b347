#include "textflag.h"

// Eight words at a time. Two sorted vectors are merged by a bitonic network: the first,
// and the second in reverse, are compared word by word, which parts the eight smallest
// from the eight largest; then words four, two and one apart are compared in both at once.

DATA reversed<>+0(SB)/8, $7
DATA reversed<>+8(SB)/8, $6
DATA reversed<>+16(SB)/8, $5
DATA reversed<>+24(SB)/8, $4
DATA reversed<>+32(SB)/8, $3
DATA reversed<>+40(SB)/8, $2
DATA reversed<>+48(SB)/8, $1
DATA reversed<>+56(SB)/8, $0
GLOBL reversed<>(SB), RODATA|NOPTR, $64

// The places of every other of 16 words.
DATA others<>+0(SB)/8, $0
DATA others<>+8(SB)/8, $2
DATA others<>+16(SB)/8, $4
DATA others<>+24(SB)/8, $6
DATA others<>+32(SB)/8, $8
DATA others<>+40(SB)/8, $10
DATA others<>+48(SB)/8, $12
DATA others<>+56(SB)/8, $14
GLOBL others<>(SB), RODATA|NOPTR, $64

// Where the network leaves the smallest words; 8 is the first of the second vector.
DATA smallest<>+0(SB)/8, $0
DATA smallest<>+8(SB)/8, $8
DATA smallest<>+16(SB)/8, $1
DATA smallest<>+24(SB)/8, $9
DATA smallest<>+32(SB)/8, $4
DATA smallest<>+40(SB)/8, $12
DATA smallest<>+48(SB)/8, $5
DATA smallest<>+56(SB)/8, $13
GLOBL smallest<>(SB), RODATA|NOPTR, $64

// The same in reverse.
DATA smallestReversed<>+0(SB)/8, $13
DATA smallestReversed<>+8(SB)/8, $5
DATA smallestReversed<>+16(SB)/8, $12
DATA smallestReversed<>+24(SB)/8, $4
DATA smallestReversed<>+32(SB)/8, $9
DATA smallestReversed<>+40(SB)/8, $1
DATA smallestReversed<>+48(SB)/8, $8
DATA smallestReversed<>+56(SB)/8, $0
GLOBL smallestReversed<>(SB), RODATA|NOPTR, $64

// Where it leaves the largest.
DATA largest<>+0(SB)/8, $2
DATA largest<>+8(SB)/8, $10
DATA largest<>+16(SB)/8, $3
DATA largest<>+24(SB)/8, $11
DATA largest<>+32(SB)/8, $6
DATA largest<>+40(SB)/8, $14
DATA largest<>+48(SB)/8, $7
DATA largest<>+56(SB)/8, $15
GLOBL largest<>(SB), RODATA|NOPTR, $64

// The same in reverse.
DATA largestReversed<>+0(SB)/8, $15
DATA largestReversed<>+8(SB)/8, $7
DATA largestReversed<>+16(SB)/8, $14
DATA largestReversed<>+24(SB)/8, $6
DATA largestReversed<>+32(SB)/8, $11
DATA largestReversed<>+40(SB)/8, $3
DATA largestReversed<>+48(SB)/8, $10
DATA largestReversed<>+56(SB)/8, $2
GLOBL largestReversed<>(SB), RODATA|NOPTR, $64

DATA eight<>+0(SB)/8, $8
GLOBL eight<>(SB), RODATA|NOPTR, $8

// What is read behind the end of a run, and before its beginning.
DATA ones<>+0(SB)/8, $0xffffffffffffffff
DATA ones<>+8(SB)/8, $0xffffffffffffffff
DATA ones<>+16(SB)/8, $0xffffffffffffffff
DATA ones<>+24(SB)/8, $0xffffffffffffffff
DATA ones<>+32(SB)/8, $0xffffffffffffffff
DATA ones<>+40(SB)/8, $0xffffffffffffffff
DATA ones<>+48(SB)/8, $0xffffffffffffffff
DATA ones<>+56(SB)/8, $0xffffffffffffffff
GLOBL ones<>(SB), RODATA|NOPTR, $64
DATA zeros<>+0(SB)/8, $0
DATA zeros<>+56(SB)/8, $0
GLOBL zeros<>(SB), RODATA|NOPTR, $64

#define SMALLESTREVERSED Z27
#define LARGESTREVERSED Z28
#define REVERSED Z29
#define SMALLEST Z30
#define LARGEST Z31

// COMPARE puts the smaller of two words into t and the larger, in which they and the
// smaller differ, into x. VPMAXUQ would wait for the unit of VPMINUQ and of the
// permutations.
#define COMPARE(x, y, t) \
	VPMINUQ    y, x, t \
	VPTERNLOGQ $0x96, y, t, x

// SORTTWO sorts the words of t and of x, each of which rises and then falls. They are left
// in t and y, those of both at SMALLEST and at LARGEST. x and u are lost.
#define SORTTWO(t, x, y, u) \
	VSHUFI64X2  $0x44, x, t, y \
	VSHUFI64X2  $0xee, x, t, u \
	COMPARE(y, u, t)           \
	VSHUFI64X2  $0x88, y, t, x \
	VSHUFI64X2  $0xdd, y, t, u \
	COMPARE(x, u, t)           \
	VPUNPCKLQDQ x, t, y        \
	VPUNPCKHQDQ x, t, u        \
	COMPARE(y, u, t)

// NETWORK merges x and y, of which one is in order and one in reverse: their smallest
// words are in t and y at SMALLEST, the largest at LARGEST. x and u are lost.
#define NETWORK(x, y, t, u) \
	COMPARE(x, y, t) \
	SORTTWO(t, x, y, u)

// FIRST reads up to eight words of the run that has the smallest next word into z, with
// ones behind its end. A run is where it is and how many words are left; the other of the
// two becomes y. It uses AX, BX, DX and K1.
#define FIRST(x, xLeft, y, yLeft, z) \
	MOVQ      (x), AX          \
	MOVQ      x, BX            \
	MOVQ      xLeft, DX        \
	CMPQ      (y), AX          \
	CMOVQCS   y, x             \
	CMOVQCS   yLeft, xLeft     \
	CMOVQCS   BX, y            \
	CMOVQCS   DX, yLeft        \
	XORL      AX, AX           \
	MOVL      $8, BX           \
	SUBQ      xLeft, BX        \
	CMOVQLT   AX, BX           \
	MOVL      $255, AX         \
	SHRXQ     BX, AX, BX       \
	KMOVB     BX, K1           \
	VMOVDQU64 ones<>(SB), z    \
	VMOVDQU64 (x), K1, z       \
	ADDQ      $64, x           \
	SUBQ      $8, xLeft        \
	CMOVQLE   onesAt-8(SP), x  \
	CMOVQLE   eight<>(SB), xLeft

// LAST reads up to eight words of the run that has the largest last word into z, with
// zeros before its beginning. x and y are where the last eight words of each are.
#define LAST(x, xLeft, y, yLeft, z) \
	MOVQ        56(x), AX         \
	MOVQ        x, BX             \
	MOVQ        xLeft, DX         \
	CMPQ        AX, 56(y)         \
	CMOVQCS     y, x              \
	CMOVQCS     yLeft, xLeft      \
	CMOVQCS     BX, y             \
	CMOVQCS     DX, yLeft         \
	XORL        AX, AX            \
	MOVL        $8, BX            \
	SUBQ        xLeft, BX         \
	CMOVQLT     AX, BX            \
	MOVL        $255, AX          \
	SHLXQ       BX, AX, BX        \
	KMOVB       BX, K1            \
	VMOVDQU64.Z (x), K1, z        \
	SUBQ        $64, x            \
	SUBQ        $8, xLeft         \
	CMOVQLE     zerosAt-16(SP), x \
	CMOVQLE     eight<>(SB), xLeft

// FIRSTFULL is FIRST of runs of which both have eight words. x and y stay what they are.
#define FIRSTFULL(x, y, z) \
	MOVQ      (x), AX  \
	MOVQ      y, BX    \
	CMPQ      AX, (y)  \
	CMOVQCS   x, BX    \
	VMOVDQU64 (BX), z  \
	SBBQ      DX, DX   \
	ANDQ      $64, DX  \
	ADDQ      DX, x    \
	SUBQ      DX, y    \
	ADDQ      $64, y

// LASTFULL is LAST of such runs.
#define LASTFULL(x, y, z) \
	MOVQ      56(y), AX \
	MOVQ      y, BX     \
	CMPQ      AX, 56(x) \
	CMOVQCS   x, BX     \
	VMOVDQU64 (BX), z   \
	SBBQ      DX, DX    \
	ANDQ      $64, DX   \
	SUBQ      DX, x     \
	ADDQ      DX, y     \
	SUBQ      $64, y

#define CONSTANTS \
	VMOVDQU64 smallestReversed<>(SB), SMALLESTREVERSED \
	VMOVDQU64 largestReversed<>(SB), LARGESTREVERSED   \
	VMOVDQU64 reversed<>(SB), REVERSED \
	VMOVDQU64 smallest<>(SB), SMALLEST \
	VMOVDQU64 largest<>(SB), LARGEST

// WRITEFIRST merges Z0 and Z1, writes the smallest words and keeps the others in Z0, in
// reverse.
#define WRITEFIRST \
	NETWORK(Z0, Z1, Z2, Z3)        \
	VMOVDQA64 LARGESTREVERSED, Z0  \
	VPERMI2Q  Z1, Z2, Z0           \
	VPERMT2Q  Z1, SMALLEST, Z2     \
	VMOVDQU64 Z2, (DI)             \
	ADDQ      $64, DI

// WRITELAST merges Z4 and Z5, writes the largest words and keeps the others in Z4, in
// reverse.
#define WRITELAST \
	NETWORK(Z4, Z5, Z6, Z7)        \
	VMOVDQA64 SMALLESTREVERSED, Z4 \
	VPERMI2Q  Z5, Z6, Z4           \
	VPERMT2Q  Z5, LARGEST, Z6      \
	SUBQ      $64, SI              \
	VMOVDQU64 Z6, (SI)

// func mergeVectors(out, outLast, a, b *uint64, lenA, lenB, vectors int)
// As long as no run can end, as many steps are taken as that is sure for; otherwise
// one that looks for the ends. Runs from the beginning are at R8 with R9 words left
// and R10 with R11, from the end at R12 with R13 and R14 with R15.
TEXT ·mergeVectors(SB), NOSPLIT, $24-56
	LEAQ ones<>(SB), AX
	MOVQ AX, onesAt-8(SP)
	LEAQ zeros<>(SB), AX
	MOVQ AX, zerosAt-16(SP)
	CONSTANTS
	MOVQ out+0(FP), DI
	MOVQ outLast+8(FP), SI
	ADDQ $8, SI
	MOVQ a+16(FP), R8
	MOVQ lenA+32(FP), R9
	MOVQ b+24(FP), R10
	MOVQ lenB+40(FP), R11
	MOVQ vectors+48(FP), CX
	LEAQ -64(R8)(R9*8), R12
	MOVQ R9, R13
	LEAQ -64(R10)(R11*8), R14
	MOVQ R11, R15
	FIRST(R8, R9, R10, R11, Z0)
	VPERMQ Z0, REVERSED, Z0
	LAST(R12, R13, R14, R15, Z4)
	VPERMQ Z4, REVERSED, Z4

loop:
	MOVQ    R9, AX
	CMPQ    R11, AX
	CMOVQLT R11, AX
	CMPQ    R13, AX
	CMOVQLT R13, AX
	CMPQ    R15, AX
	CMOVQLT R15, AX
	SHRQ    $3, AX
	JZ      ends
	CMPQ    CX, AX
	CMOVQLT CX, AX
	SUBQ    AX, CX
	SHLQ    $6, AX
	ADDQ    DI, AX
	MOVQ    AX, until-24(SP)
	LEAQ    (R8)(R9*8), R9   // instead of what is left, where it ends
	LEAQ    (R10)(R11*8), R11
	SHLQ    $3, R13
	SUBQ    R12, R13
	SHLQ    $3, R15
	SUBQ    R14, R15

full:
	FIRSTFULL(R8, R10, Z1)
	WRITEFIRST
	LASTFULL(R12, R14, Z5)
	WRITELAST
	CMPQ DI, until-24(SP)
	JNE  full

	TESTQ   CX, CX
	JZ      done
	SUBQ    R8, R9
	SARQ    $3, R9
	CMOVQEQ onesAt-8(SP), R8
	CMOVQEQ eight<>(SB), R9
	SUBQ    R10, R11
	SARQ    $3, R11
	CMOVQEQ onesAt-8(SP), R10
	CMOVQEQ eight<>(SB), R11
	ADDQ    R12, R13
	SARQ    $3, R13
	CMOVQEQ zerosAt-16(SP), R12
	CMOVQEQ eight<>(SB), R13
	ADDQ    R14, R15
	SARQ    $3, R15
	CMOVQEQ zerosAt-16(SP), R14
	CMOVQEQ eight<>(SB), R15
	JMP     loop

ends:
	FIRST(R8, R9, R10, R11, Z1)
	WRITEFIRST
	LAST(R12, R13, R14, R15, Z5)
	WRITELAST
	DECQ CX
	JNZ  loop

done:
	VZEROUPPER
	RET

// ORDER puts the smaller of two words into x, the larger into y.
#define ORDER(x, y) \
	VMOVDQA64  x, Z26 \
	VPMINUQ    y, x, x \
	VPTERNLOGQ $0x96, Z26, x, y

// INPLACE sorts x and y, each of which rises and then falls.
#define INPLACE(x, y) \
	SORTTWO(x, y, Z24, Z25)    \
	VMOVDQA64 LARGEST, y       \
	VPERMI2Q  Z24, x, y        \
	VPERMT2Q  Z24, SMALLEST, x

// MERGE8 merges two vectors into x and y.
#define MERGE8(x, y) \
	VPERMQ y, REVERSED, y \
	ORDER(x, y)           \
	INPLACE(x, y)

// MERGE16 merges a and b into a, c, d, b.
#define MERGE16(a, c, b, d) \
	VPERMQ b, REVERSED, b \
	VPERMQ d, REVERSED, d \
	ORDER(a, d)           \
	ORDER(c, b)           \
	ORDER(a, c)           \
	ORDER(d, b)           \
	INPLACE(a, c)         \
	INPLACE(d, b)

// RISEANDFALL sorts four vectors that together rise and then fall.
#define RISEANDFALL(a, b, c, d) \
	ORDER(a, c)   \
	ORDER(b, d)   \
	ORDER(a, b)   \
	ORDER(c, d)   \
	INPLACE(a, b) \
	INPLACE(c, d)

// LOADROW reads a row, with ones for what is not in AX, and STOREROW writes one, but for
// what is not in BX.
#define LOADROW(at, z) \
	KMOVB     AX, K1         \
	VMOVDQU64 ones<>(SB), z  \
	VMOVDQU64 at(DI), K1, z  \
	SHRQ      $8, AX

#define STOREROW(z, at) \
	KMOVB     BX, K1         \
	VMOVDQU64 z, K1, at(DI)  \
	SHRQ      $8, BX

// func sortBlock(words *uint64, n int)
// The words of each of eight columns are sorted by a network of 19 comparisons, the
// columns become rows, and rows are merged in pairs.
TEXT ·sortBlock(SB), NOSPLIT, $0-16
	CONSTANTS
	MOVQ  words+0(FP), DI
	MOVQ  n+8(FP), CX
	MOVQ  $-1, AX
	BZHIQ CX, AX, AX
	MOVQ  AX, BX
	LOADROW(0, Z0)
	LOADROW(64, Z1)
	LOADROW(128, Z2)
	LOADROW(192, Z3)
	LOADROW(256, Z4)
	LOADROW(320, Z5)
	LOADROW(384, Z6)
	LOADROW(448, Z7)
	ORDER(Z0, Z2)
	ORDER(Z1, Z3)
	ORDER(Z4, Z6)
	ORDER(Z5, Z7)
	ORDER(Z0, Z4)
	ORDER(Z1, Z5)
	ORDER(Z2, Z6)
	ORDER(Z3, Z7)
	ORDER(Z0, Z1)
	ORDER(Z2, Z3)
	ORDER(Z4, Z5)
	ORDER(Z6, Z7)
	ORDER(Z2, Z4)
	ORDER(Z3, Z5)
	ORDER(Z1, Z4)
	ORDER(Z3, Z6)
	ORDER(Z1, Z2)
	ORDER(Z3, Z4)
	ORDER(Z5, Z6)

	VPUNPCKLQDQ Z1, Z0, Z8
	VPUNPCKHQDQ Z1, Z0, Z9
	VPUNPCKLQDQ Z3, Z2, Z10
	VPUNPCKHQDQ Z3, Z2, Z11
	VPUNPCKLQDQ Z5, Z4, Z12
	VPUNPCKHQDQ Z5, Z4, Z13
	VPUNPCKLQDQ Z7, Z6, Z14
	VPUNPCKHQDQ Z7, Z6, Z15
	VSHUFI64X2  $0x88, Z10, Z8, Z0
	VSHUFI64X2  $0xdd, Z10, Z8, Z1
	VSHUFI64X2  $0x88, Z14, Z12, Z2
	VSHUFI64X2  $0xdd, Z14, Z12, Z3
	VSHUFI64X2  $0x88, Z11, Z9, Z4
	VSHUFI64X2  $0xdd, Z11, Z9, Z5
	VSHUFI64X2  $0x88, Z15, Z13, Z6
	VSHUFI64X2  $0xdd, Z15, Z13, Z7
	VSHUFI64X2  $0x88, Z2, Z0, Z8
	VSHUFI64X2  $0xdd, Z2, Z0, Z9
	VSHUFI64X2  $0x88, Z3, Z1, Z10
	VSHUFI64X2  $0xdd, Z3, Z1, Z11
	VSHUFI64X2  $0x88, Z6, Z4, Z12
	VSHUFI64X2  $0xdd, Z6, Z4, Z13
	VSHUFI64X2  $0x88, Z7, Z5, Z14
	VSHUFI64X2  $0xdd, Z7, Z5, Z15

	MERGE8(Z8, Z9)
	MERGE8(Z10, Z11)
	MERGE8(Z12, Z13)
	MERGE8(Z14, Z15)
	MERGE16(Z8, Z9, Z10, Z11)   // in order now: 8, 9, 11, 10
	MERGE16(Z12, Z13, Z14, Z15) // 12, 13, 15, 14
	VPERMQ    Z12, REVERSED, Z12
	VPERMQ    Z13, REVERSED, Z13
	VPERMQ    Z14, REVERSED, Z14
	VPERMQ    Z15, REVERSED, Z15
	ORDER(Z8, Z14)
	ORDER(Z9, Z15)
	ORDER(Z11, Z13)
	ORDER(Z10, Z12)
	RISEANDFALL(Z8, Z9, Z11, Z10)
	RISEANDFALL(Z14, Z15, Z13, Z12)
	STOREROW(Z8, 0)
	STOREROW(Z9, 64)
	STOREROW(Z11, 128)
	STOREROW(Z10, 192)
	STOREROW(Z14, 256)
	STOREROW(Z15, 320)
	STOREROW(Z13, 384)
	STOREROW(Z12, 448)
	VZEROUPPER
	RET

// func everyOtherVector(out, from *uint64, n int)
TEXT ·everyOtherVector(SB), NOSPLIT, $0-24
	MOVQ      out+0(FP), DI
	MOVQ      from+8(FP), SI
	MOVQ      n+16(FP), CX
	VMOVDQU64 others<>(SB), Z1
	SUBQ      $8, CX
	JLT       last

next:
	VMOVDQU64 (SI), Z0
	VPERMT2Q  64(SI), Z1, Z0
	VMOVDQU64 Z0, (DI)
	ADDQ      $128, SI
	ADDQ      $64, DI
	SUBQ      $8, CX
	JGE       next

last:
	ADDQ $8, CX
	JZ   done

	// Of so many words, and of one less than twice as many.
	MOVQ        $-1, AX
	BZHIQ       CX, AX, BX
	KMOVB       BX, K1
	LEAQ        -1(CX)(CX*1), CX
	BZHIQ       CX, AX, BX
	KMOVB       BX, K2
	SHRQ        $8, BX
	KMOVB       BX, K3
	VMOVDQU64.Z (SI), K2, Z0
	VMOVDQU64.Z 64(SI), K3, Z2
	VPERMT2Q    Z2, Z1, Z0
	VMOVDQU64   Z0, K1, (DI)

done:
	VZEROUPPER
	RET
