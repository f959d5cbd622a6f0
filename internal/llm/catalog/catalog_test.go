package catalog_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"adze/internal/llm/catalog"
)

const today = "2026-11-21"

func known(t *testing.T) []catalog.Row {
	t.Helper()
	rows, err := catalog.Rows()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestCostCountsEachKindOfTokenAtItsPrice(t *testing.T) {
	million := 1_000_000
	for name, c := range map[string]struct {
		model string
		t     catalog.Tokens
		usd   float64
		known bool
	}{
		"input and output":            {"anthropic/claude-sonnet-5-5", catalog.Tokens{Input: million, Output: million}, 12, true},
		"cache read and write":        {"anthropic/claude-opus-5-5", catalog.Tokens{Input: 1000, Output: 200, CacheRead: 50_000, CacheWrite: 4000}, 0.004 + 0.004 + 0.010 + 0.020, true},
		"at the bound of a prompt":    {"anthropic/claude-haiku-5-5", catalog.Tokens{Input: 60_000, CacheRead: 40_000}, 0.006 + 0.0004, true},
		"above it, all of it":         {"anthropic/claude-haiku-5-5", catalog.Tokens{Input: 60_001, CacheRead: 40_000, Output: 1000}, 0.0300005 + 0.002 + 0.0025, true},
		"a cached prompt of OpenAI":   {"openai/gpt-5.4", catalog.Tokens{Input: 2000, CacheRead: 100_000, Output: 100}, 0.005 + 0.025 + 0.0015, true},
		"a long one of Gemini":        {"gemini/gemini-2.5-pro", catalog.Tokens{Input: 250_000, CacheRead: 10_000, Output: 1000}, 0.625 + 0.0025 + 0.015, true},
		"a write without a price":     {"openai/gpt-5.4", catalog.Tokens{Input: 10, CacheWrite: 1}, 0, false},
		"a long one without a price":  {"openai/gpt-6.2-sol", catalog.Tokens{Input: 272_001}, 0, false},
		"nothing counted":             {"openai/gpt-5.4", catalog.Tokens{}, 0, false},
		"an absurd count":             {"openai/gpt-5.4", catalog.Tokens{Input: -1, Output: 5}, 0, false},
		"a dated version of the same": {"anthropic/claude-haiku-4-5-20251001", catalog.Tokens{Input: million}, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			row, ok := catalog.Find(known(t), c.model, today)
			if !ok {
				t.Fatalf("no row for %s", c.model)
			}
			usd, priced := row.Cost(c.t)
			if priced != c.known || math.Abs(usd-c.usd) > 1e-9 {
				t.Errorf("cost %v %v, want %v %v", usd, priced, c.usd, c.known)
			}
		})
	}
}

func TestAModelThatIsNotInTheTableHasNoRow(t *testing.T) {
	for _, model := range []string{
		"openai/gpt-5.4-pro", "openai/gpt-5.4x", "openai/gpt-5.4-2026", "anthropic/claude-opus-5-5-fast",
		"gemini/gemini-flash-lite-latest", "ollama/gpt-5.4", "openai/", "", "script/x",
	} {
		if row, ok := catalog.Find(known(t), model, today); ok {
			t.Errorf("%q found %q", model, row.Model)
		}
	}
}

// What a moving name costs is not known; how much it takes is.
func TestAMovingNameHasNoPrice(t *testing.T) {
	row, ok := catalog.Find(known(t), "gemini/gemini-flash-latest", today)
	if _, priced := row.Cost(catalog.Tokens{Input: 1000}); !ok || priced || row.Context != 1048576 || !row.Documents || !row.Thinking {
		t.Errorf("%+v, priced %v", row, priced)
	}
}

func TestAPriceEndsOnItsLastDay(t *testing.T) {
	for day, want := range map[string]float64{"2026-12-31": 0.75, "2027-01-01": 1.50} {
		row, ok := catalog.Find(known(t), "gemini/gemini-3.8-flash", day)
		if !ok || *row.Rate.Input != want {
			t.Errorf("on %s: %v %v, want %v", day, row.Rate.Input, ok, want)
		}
	}
}

func TestAPatternOfThePersonStandsForTheRest(t *testing.T) {
	free := 0.0
	rows := []catalog.Row{{Model: "ollama/*", Rate: catalog.Rate{Input: &free, Output: &free}}}
	row, ok := catalog.Find(rows, "ollama/qwen3:8b", today)
	if usd, known := row.Cost(catalog.Tokens{Input: 5, Output: 5}); !ok || usd != 0 || !known {
		t.Errorf("free is a price: %v %v %v", ok, usd, known)
	}
}

// TestEveryRowTellsItsSource keeps the table honest; a row that an earlier one hides would never
// count.
func TestEveryRowTellsItsSource(t *testing.T) {
	rows := known(t)
	if len(rows) < 20 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, r := range rows {
		if moves := strings.HasSuffix(r.Model, "-latest"); !strings.HasPrefix(r.Source, "https://") || r.Priced() == moves {
			t.Errorf("%s: source %q, priced %v", r.Model, r.Source, r.Priced())
		}
		for _, day := range []string{r.Date, r.ValidUntil} {
			if _, err := time.Parse(time.DateOnly, day); err != nil && day != "" {
				t.Errorf("%s: %v", r.Model, err)
			}
		}
		for _, earlier := range rows[:i] {
			if earlier.Model == r.Model && earlier.ValidUntil == "" {
				t.Errorf("%s is hidden by an earlier row", r.Model)
			}
		}
	}
}
