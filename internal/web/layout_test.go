package web

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
)

// Bars of the main content over all layouts: the share of an article's words that are found, and
// the share of what is found that belongs to it. Each layout alone may stay a little below.
const (
	wantRecall, wantPrecision   = 0.98, 0.90
	worstRecall, worstPrecision = 0.95, 0.75
)

// TestLayouts reads testdata/layout/*.html: ways in which sites lay out a page. {{p 40}} stands for
// forty words that occur nowhere else; what carries data-want is the content. The attribute is
// taken off before the page is rendered.
func TestLayouts(t *testing.T) {
	files, err := filepath.Glob("testdata/layout/*.html")
	if err != nil || len(files) < 30 {
		t.Fatal("no layouts: ", err)
	}
	var sum score
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source, want := layout(t, string(raw))
		page, fault := rendered(t.Context(), source, Request{Format: Text})
		if fault != nil {
			t.Fatal(fault)
		}
		s := compare(want, strings.Fields(page.Text))
		if s.recall() < worstRecall || s.precision() < worstPrecision {
			t.Errorf("%s: recall %.3f, precision %.3f, kept %d %%", filepath.Base(file), s.recall(), s.precision(), page.KeptPercent)
		}
		sum.r, sum.p, sum.n = sum.r+s.recall(), sum.p+s.precision(), sum.n+1
	}
	recall, precision := sum.r/sum.n, sum.p/sum.n
	t.Logf("%d layouts: recall %.4f, precision %.4f", len(files), recall, precision)
	if recall < wantRecall || precision < wantPrecision {
		t.Errorf("recall %.4f, precision %.4f", recall, precision)
	}
}

var placeholder = regexp.MustCompile(`\{\{p (\d+)\}\}`)

// layout fills a page with words and returns it with the words of its content.
func layout(t *testing.T, source string) (page string, want []string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	n := 0
	source = placeholder.ReplaceAllStringFunc(source, func(m string) string {
		count, _ := strconv.Atoi(placeholder.FindStringSubmatch(m)[1])
		words := make([]string, count)
		for i := range words {
			n++
			words[i] = fmt.Sprintf("%s%d", strings.Repeat("x", 1+rng.IntN(6)), n)
			if i%13 == 12 {
				words[i] += ","
			}
		}
		end := ""
		if count > 10 {
			end = "."
		}
		return strings.Join(words, " ") + end
	})
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	doc.Find("[data-want]").Each(func(_ int, s *goquery.Selection) {
		for _, n := range s.Find("*").AddSelection(s).Contents().Nodes {
			if n.FirstChild == nil {
				want = append(want, strings.Fields(n.Data)...)
			}
		}
	})
	return strings.ReplaceAll(source, " data-want", ""), want
}

// score counts words; as a sum it holds shares and how many.
type score struct{ r, p, n float64 }

func compare(want, got []string) score {
	left := map[string]int{}
	for _, w := range want {
		left[w]++
	}
	found := 0.0
	for _, g := range got {
		if left[g] > 0 {
			left[g]--
			found++
		}
	}
	return score{r: found / float64(len(want)), p: found / float64(max(1, len(got))), n: 1}
}

func (s score) recall() float64    { return s.r }
func (s score) precision() float64 { return s.p }
