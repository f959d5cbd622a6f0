package redact

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"adze/internal/testkit/effort"
)

// everyByte finds what find finds by trying every kind and every value at every byte, without any
// table: the reference that find is compared with.
func everyByte(m *Masker, s string, from int) []Span {
	out, _ := everyKind(s, from, true)
	if m.known == nil {
		return unmarked(s, out)
	}
	for _, v := range m.known.values {
		for at := from; ; {
			i := strings.Index(s[at:], v.text)
			if i < 0 {
				break
			}
			start, end := at+i, at+i+len(v.text)
			at = end
			if !v.whole || (boundary(s, start) && (end == len(s) || !word(s[end]))) {
				out = append(out, Span{start, end})
			}
		}
	}
	return unmarked(s, out)
}

// everyKind is the part of everyByte without values; open is as of find.
func everyKind(s string, from int, ended bool) (out []Span, open int) {
	outer, inner := kinds(), innerKinds()
	for i := from; i < len(s); i++ {
		list := outer[s[i]]
		if word(s[i]) && !boundary(s, i) {
			list = inner[s[i]]
		}
		for n := range list {
			found, more := list[n].try(s, i)
			if more && !ended {
				return out, i
			}
			if found.End > found.Start {
				out, i = append(out, found), max(i, found.End-1)
				break
			}
		}
	}
	return out, len(s)
}

// slowStream is a Stream over the reference.
type slowStream struct {
	m            *Masker
	before, held string
}

func (t *slowStream) pass(piece string, ended bool) string {
	from := len(t.before)
	whole := t.before + t.held + piece
	cut := len(whole)
	if !ended && len(t.held)+len(piece) < maxHeld {
		_, open := everyKind(whole, from, false)
		cut = max(from, min(open, t.m.beginning(whole)))
	}
	var ready strings.Builder
	at := from
	for _, x := range everyByte(t.m, whole, from) {
		if x.End > cut {
			cut = min(cut, x.Start)
			break
		}
		ready.WriteString(whole[at:x.Start] + Mark)
		at = x.End
	}
	ready.WriteString(whole[at:cut])
	t.held = whole[cut:]
	t.before = whole[max(0, cut-context):cut]
	return ready.String()
}

// TestFindAgreesWithEveryByte compares find, and streams that are cut anywhere, with the reference
// on generated text, on source code, and on both with secrets, parts of them and escapes put in.
// ADZE_TESTS says how much is compared; a little always is.
func TestFindAgreesWithEveryByte(t *testing.T) {
	megabytes := effort.Rounds(1, 2, 1000)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	values := []string{"hunter2-hunter2-99", "aaaaaaaa1aaaaaaaa1", "correct-horse-battery-staple", "Tr0ub4dor&3xyz", "AKIAIOSFODNN7EXAMPLF"}
	many := slices.Clone(values)
	for range 60 {
		many = append(many, strconv.FormatUint(random.Uint64(), 36)+strconv.FormatUint(random.Uint64(), 36))
	}
	maskers := []*Masker{{}, New(values...), New(many...)}
	pieces := planted(many[:8])
	sources := sourceTexts(t)
	for done := 0; done < megabytes<<20; {
		m := maskers[random.IntN(len(maskers))]
		s := mixture(random, sources, pieces)
		for random.IntN(4) > 0 { // some are longer than what the kernels take at once
			s += mixture(random, sources, pieces)
		}
		done += len(s)
		from := 0
		if random.IntN(4) == 0 {
			from = random.IntN(min(len(s), 9))
		}
		want, got := everyByte(m, s, from), m.spans(s, from)
		if !slices.Equal(want, got) {
			t.Fatalf("from %d of %d bytes:\n got %v\nwant %v\n%q", from, len(s), got, want, s)
		}
		fast, slow := m.Stream(), &slowStream{m: m}
		var told, wanted strings.Builder
		for at := 0; at < len(s); {
			n := min(len(s)-at, 1+random.IntN(1+random.IntN(9000)))
			told.WriteString(fast.Write(s[at : at+n]))
			wanted.WriteString(slow.pass(s[at:at+n], false))
			at += n
		}
		told.WriteString(fast.End())
		wanted.WriteString(slow.pass("", true))
		if told.String() != wanted.String() {
			t.Fatalf("in pieces, %q:\n got %q\nwant %q", s, told.String(), wanted.String())
		}
	}
}

// planted are secrets of every kind, cut and whole, and what only looks like one.
func planted(values []string) (out []string) {
	body := "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6kL9nP2rS5uX8zA1cD4fG7iM0oQ3tV6wY9"
	for _, k := range published {
		size := k.min
		var letters []byte
		for i := 0; len(letters) < size+1 && i < 10000; i++ {
			if c := body[i%len(body)]; k.class(c) {
				letters = append(letters, c)
			} else if c := "0123456789abcdef"[i%16]; k.class(c) {
				letters = append(letters, c)
			}
		}
		out = append(out, k.prefix, k.prefix+string(letters))
	}
	for _, p := range places() {
		out = append(out, p.prefix, strings.ToUpper(p.prefix), p.prefix+": \"sQ8sT1vW4yZ7bC0eF3hJ\"", p.prefix+"=Hunter2Hunter2!x")
	}
	for _, v := range values {
		for _, w := range spellings(v) {
			out = append(out, w.text, w.text[:len(w.text)/2], w.text+w.text[len(w.text)/2:])
		}
	}
	return append(out, "123456789:AAF3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3h", "db_password=hunter2Hunter2", "dbPassword = \"aB3dE6gH9jK2mN5\"", "://u:pa55word!@h/", "?token=abcdefgh1234",
		"-----BEGIN RSA PRIVATE KEY-----\n"+strings.Repeat(body, 3)+"\n-----END RSA PRIVATE KEY-----", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
		"AWS_SECRET_ACCESS_KEY=aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6kL9n", Mark, `\n`, `\t`, `\u003d`, `%3D`, `%2`, `\u00`, `\\`, "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs0aB")
}

// mixture is a text of some kilobytes with pieces in it.
func mixture(random *rand.Rand, sources [][]byte, pieces []string) string {
	var b bytes.Buffer
	for range 1 + random.IntN(12) {
		switch random.IntN(6) {
		case 0, 1:
			src := sources[random.IntN(len(sources))]
			at := random.IntN(len(src))
			b.Write(src[at:min(len(src), at+random.IntN(600))])
		case 2:
			for range random.IntN(40) {
				b.WriteByte("_-.:=%\\\"' \nabtnrfuMNOKETSPAsktp0123456789"[random.IntN(40)])
			}
		case 3:
			for range random.IntN(20) {
				b.WriteByte(byte(random.IntN(256)))
			}
		default:
			p := pieces[random.IntN(len(pieces))]
			if random.IntN(5) == 0 && len(p) > 1 {
				p = p[:random.IntN(len(p))]
			}
			b.WriteString(p)
		}
		if random.IntN(3) > 0 {
			b.WriteByte(" \n\"'=_x"[random.IntN(7)])
		}
	}
	if b.Len() == 0 {
		return "x"
	}
	return b.String()
}

func sourceTexts(t *testing.T) (out [][]byte) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("go is not there: ", err)
	}
	names, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(goroot)), "src", "net", "http", "*.go"))
	own, _ := filepath.Glob("*.go")
	for _, name := range append(names, own...) {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, raw)
	}
	return out
}
