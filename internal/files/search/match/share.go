package match

// byteShare is each byte's frequency in source code, per 100,000 bytes: the mean for the Go
// toolchain's source tree and about a hundred Go modules with their other files (web pages, C,
// prose, data). Counted over text files up to 300 kB; 1 also stands for less.
var byteShare = [256]uint16{
	1, 1, 1, 1, 2, 1, 1, 1, 1, 3466, 3207, 1, 1, 1, 1, 1,
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	15424, 113, 1040, 62, 57, 96, 110, 131, 1175, 1173, 268, 130, 2002, 330, 1448, 1371,
	2300, 1030, 766, 559, 563, 380, 539, 295, 411, 300, 881, 159, 114, 869, 109, 12,
	11, 667, 278, 485, 406, 719, 364, 217, 176, 543, 28, 81, 400, 358, 429, 488,
	436, 56, 548, 769, 764, 229, 239, 132, 154, 128, 38, 251, 148, 249, 10, 871,
	74, 3103, 837, 1920, 1704, 5474, 1591, 1027, 976, 3172, 72, 386, 1999, 1138, 3380, 2758,
	1404, 96, 3545, 2882, 4520, 1546, 531, 388, 1247, 695, 109, 638, 115, 637, 5, 1,
	19, 8, 12, 5, 5, 5, 3, 3, 6, 3, 5, 4, 4, 3, 2, 2,
	3, 3, 1, 2, 13, 4, 2, 3, 3, 4, 2, 2, 3, 3, 2, 3,
	3, 4, 2, 3, 8, 4, 4, 5, 4, 4, 4, 2, 3, 3, 4, 3,
	6, 4, 4, 3, 4, 5, 2, 19, 6, 5, 4, 3, 5, 5, 5, 3,
	1, 1, 18, 7, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 5, 2,
	11, 5, 1, 1, 1, 1, 1, 2, 10, 10, 1, 1, 1, 1, 1, 1,
	18, 8, 22, 7, 3, 6, 5, 3, 3, 2, 2, 3, 4, 1, 1, 2,
	2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
}

type byteSet [4]uint64

func (s *byteSet) add(b byte)      { s[b>>6] |= 1 << (b & 63) }
func (s *byteSet) has(b byte) bool { return s[b>>6]&(1<<(b&63)) != 0 }

func (s *byteSet) addRange(lo, hi byte) {
	for b := int(lo); b <= int(hi); b++ {
		s.add(byte(b))
	}
}

// share estimates how often a byte is in the set, from 0 to 1, as a kern.Window represents it.
func (s *byteSet) share() float64 {
	var low, high [16]bool
	for b := range 256 {
		if s.has(byte(b)) {
			low[b&15], high[b>>4] = true, true
		}
	}
	sum := 0
	for b := range 256 {
		if low[b&15] && high[b>>4] {
			sum += int(byteShare[b])
		}
	}
	return min(1, float64(sum)/100_000)
}

func oddsOf(b byte, fold bool) float64 {
	n := int(byteShare[b])
	if u := upper(b); fold && u != b {
		n += int(byteShare[u])
	}
	return float64(n) / 100_000
}

func upper(b byte) byte {
	if b >= 'a' && b <= 'z' {
		return b - 'a' + 'A'
	}
	return b
}
