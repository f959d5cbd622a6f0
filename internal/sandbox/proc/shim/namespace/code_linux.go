package namespace

import "syscall"

// Compiled is the filter of a box in the form that travels with it. A process that has just begun
// needs longer to put it together than the kernel to check it, so who orders many boxes does it
// once for all; where nobody has, the shim does.
func (b Box) Compiled() Code {
	if b.Filter == NoFilter {
		return ""
	}
	p := b.Filter.program(here(), b.terms())
	out := make([]byte, 0, len(p)*digits)
	for _, i := range p {
		for v, n := i.word(), 0; n < digits; v, n = v<<4, n+1 {
			out = append(out, "0123456789abcdef"[v>>60])
		}
	}
	return Code(out)
}

// digits is what an instruction takes: hexadecimal ones, because the fields of a spec hold no NUL.
const digits = 16

func (i instruction) word() uint64 {
	return uint64(i.code)<<48 | uint64(i.jt)<<40 | uint64(i.jf)<<32 | uint64(i.k)
}

// read is nil where there is none.
func (c Code) read() ([]instruction, error) {
	if len(c)%digits != 0 {
		return nil, syscall.EINVAL
	}
	var out []instruction
	if len(c) > 0 {
		out = make([]instruction, len(c)/digits)
	}
	for n := range out {
		v := uint64(0)
		for _, d := range []byte(c[n*digits : (n+1)*digits]) {
			switch {
			case d >= '0' && d <= '9':
				v = v<<4 | uint64(d-'0')
			case d >= 'a' && d <= 'f':
				v = v<<4 | uint64(d-'a'+10)
			default:
				return nil, syscall.EINVAL
			}
		}
		out[n] = instruction{uint16(v >> 48), uint8(v >> 40), uint8(v >> 32), uint32(v)}
	}
	return out, nil
}
