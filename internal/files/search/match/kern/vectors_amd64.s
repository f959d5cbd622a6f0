#include "textflag.h"

// A place where 32 bytes matched: write the places of the bits of R11, whose lowest is place AX, behind the BX places
// that there are. R8 is the count up to which there is room for 32 more.

// func pair(text *byte, from, to int, p *Pair, places *uint32, room int) (n, next int)
TEXT ·pair(SB), NOSPLIT, $0-64
	MOVQ text+0(FP), SI
	MOVQ from+8(FP), AX
	MOVQ to+16(FP), CX
	MOVQ p+24(FP), DX
	MOVQ places+32(FP), DI
	MOVQ room+40(FP), R8
	SUBQ $32, R8
	XORQ BX, BX
	VPBROADCASTB 0(DX), Y0
	VPBROADCASTB 1(DX), Y1
	VPBROADCASTB 2(DX), Y2
	VPBROADCASTB 3(DX), Y3
	MOVQ 8(DX), R9
	MOVQ 16(DX), R10
	ADDQ SI, R9
	ADDQ SI, R10

pairLoop:
	CMPQ AX, CX
	JGE  pairDone
	VPOR (R9)(AX*1), Y2, Y4
	VPOR (R10)(AX*1), Y3, Y5
	VPCMPEQB Y0, Y4, Y4
	VPCMPEQB Y1, Y5, Y5
	VPAND Y4, Y5, Y4
	VPMOVMSKB Y4, R11
	TESTL R11, R11
	JNZ  pairHit
	ADDQ $32, AX
	JMP  pairLoop

pairHit:
	TZCNTL R11, R12
	ADDL AX, R12
	MOVL R12, (DI)(BX*4)
	INCQ BX
	BLSRL R11, R11
	JNZ  pairHit
	ADDQ $32, AX
	CMPQ BX, R8
	JLE  pairLoop

pairDone:
	VZEROUPPER
	MOVQ BX, n+48(FP)
	MOVQ AX, next+56(FP)
	RET

DATA nibbles<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL nibbles<>(SB), RODATA|NOPTR, $8

// func window(text *byte, from, to int, w *Window, places *uint32, room int) (n, next int)
TEXT ·window(SB), NOSPLIT, $0-64
	MOVQ text+0(FP), SI
	MOVQ from+8(FP), AX
	MOVQ to+16(FP), CX
	MOVQ w+24(FP), DX
	MOVQ places+32(FP), DI
	MOVQ room+40(FP), R8
	SUBQ $32, R8
	XORQ BX, BX
	VBROADCASTI128 0(DX), Y0
	VBROADCASTI128 16(DX), Y1
	VBROADCASTI128 32(DX), Y2
	VBROADCASTI128 48(DX), Y3
	VBROADCASTI128 64(DX), Y4
	VBROADCASTI128 80(DX), Y5
	VPBROADCASTQ nibbles<>(SB), Y6
	VPXOR Y7, Y7, Y7

windowLoop:
	CMPQ AX, CX
	JGE  windowDone
	VMOVDQU 0(SI)(AX*1), Y8
	VMOVDQU 1(SI)(AX*1), Y9
	VMOVDQU 2(SI)(AX*1), Y10
	VPSRLW $4, Y8, Y11
	VPSRLW $4, Y9, Y12
	VPSRLW $4, Y10, Y13
	VPAND Y6, Y8, Y8
	VPAND Y6, Y9, Y9
	VPAND Y6, Y10, Y10
	VPAND Y6, Y11, Y11
	VPAND Y6, Y12, Y12
	VPAND Y6, Y13, Y13
	VPSHUFB Y8, Y0, Y8
	VPSHUFB Y9, Y1, Y9
	VPSHUFB Y10, Y2, Y10
	VPSHUFB Y11, Y3, Y11
	VPSHUFB Y12, Y4, Y12
	VPSHUFB Y13, Y5, Y13
	VPAND Y8, Y11, Y8
	VPAND Y9, Y12, Y9
	VPAND Y10, Y13, Y10
	VPAND Y8, Y9, Y8
	VPAND Y8, Y10, Y8
	VPCMPEQB Y7, Y8, Y8
	VPMOVMSKB Y8, R11
	NOTL R11
	TESTL R11, R11
	JNZ  windowHit
	ADDQ $32, AX
	JMP  windowLoop

windowHit:
	TZCNTL R11, R12
	ADDL AX, R12
	MOVL R12, (DI)(BX*4)
	INCQ BX
	BLSRL R11, R11
	JNZ  windowHit
	ADDQ $32, AX
	CMPQ BX, R8
	JLE  windowLoop

windowDone:
	VZEROUPPER
	MOVQ BX, n+48(FP)
	MOVQ AX, next+56(FP)
	RET

// func classBits(text *byte, words int, c *Class, marks *uint64)
TEXT ·classBits(SB), NOSPLIT, $0-32
	MOVQ text+0(FP), SI
	MOVQ words+8(FP), CX
	MOVQ c+16(FP), DX
	MOVQ marks+24(FP), DI
	VBROADCASTI128 0(DX), Y0
	VBROADCASTI128 16(DX), Y1
	VPBROADCASTQ 32(DX), Y2
	VPBROADCASTQ nibbles<>(SB), Y6
	VPXOR Y7, Y7, Y7

classLoop:
	TESTQ CX, CX
	JZ   classDone
	VMOVDQU (SI), Y8
	VMOVDQU 32(SI), Y9
	VPSRLW $4, Y8, Y10
	VPSRLW $4, Y9, Y11
	VPAND Y6, Y10, Y10
	VPAND Y6, Y11, Y11
	VPSHUFB Y8, Y0, Y12 // a byte beyond ASCII gives 0
	VPSHUFB Y9, Y0, Y13
	VPSHUFB Y10, Y1, Y10
	VPSHUFB Y11, Y1, Y11
	VPAND Y12, Y10, Y10
	VPAND Y13, Y11, Y11
	VPCMPEQB Y7, Y10, Y10
	VPCMPEQB Y7, Y11, Y11
	VPAND Y2, Y8, Y8
	VPAND Y2, Y9, Y9
	VPMOVMSKB Y10, R10
	VPMOVMSKB Y11, R11
	VPMOVMSKB Y8, R8
	VPMOVMSKB Y9, R9
	NOTL R10
	NOTL R11
	ORL  R8, R10
	ORL  R9, R11
	SHLQ $32, R11
	ORQ  R11, R10
	MOVQ R10, (DI)
	ADDQ $64, SI
	ADDQ $8, DI
	DECQ CX
	JMP  classLoop

classDone:
	VZEROUPPER
	RET
