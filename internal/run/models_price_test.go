package run_test

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"testing"
)

// configure writes the user's configuration. lister answers every request with a call of list, so
// that only a budget ends the run. It counts 1,000 tokens of prompt, of which 600 were cached, and
// 100 of answer.
func lister(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, data := range []string{
		`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"list","arguments":"{}"}}]}}]}`,
		`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`,
		`{"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":100,"prompt_tokens_details":{"cached_tokens":600}}}`,
		`[DONE]`,
	} {
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
}

const priced = `{"models": {"openai/m": {"price": {"input": 10, "output": 50, "cache_read": 1}}}}`

func TestTheResultTellsTheCost(t *testing.T) {
	for name, c := range map[string]struct {
		config, model string
		want          any
	}{
		"priced by the person":                 {priced, "openai/m", 2 * (400*10 + 100*50 + 600*1) / 1e6},
		"no price":                             {`{}`, "openai/m", nil},
		"no price of what was cached":          {`{"models": {"openai/*": {"price": {"input": 1, "output": 1}}}}`, "openai/m", nil},
		"a known name on somebody else's host": {`{}`, "openai/gpt-5.4", nil},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			u.serve(lister)
			u.configure(c.config)
			got := u.run("-p", "--output-format", "json", "--model", c.model, "--max-turns", "2", "go").wants(6).result()["cost_usd"]
			want, known := c.want.(float64)
			usd, told := got.(float64)
			if known != told || math.Abs(usd-want) > 1e-12 {
				t.Errorf("cost_usd = %v, want %v", got, c.want)
			}
		})
	}
}

func TestALimitInMoneyEndsTheRun(t *testing.T) {
	u := newUser(t)
	u.serve(lister)
	u.configure(priced) // 0.0096 USD a request
	r := u.run("-p", "--output-format", "json", "--model", "openai/m", "--max-cost", "0.02", "go").wants(6, "USD were spent")
	if got := r.result(); got["turns"] != float64(3) || got["cause"] != "budget" {
		t.Errorf("%v turns, cause %v", got["turns"], got["cause"])
	}
}

// xAI counts thoughts beside the completion: only its total holds them.
func TestALimitInMoneyCountsWhatTheTotalCounts(t *testing.T) {
	u := newUser(t)
	u.serve(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, data := range []string{
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"list","arguments":"{}"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`,
			`{"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":31100,` +
				`"prompt_tokens_details":{"cached_tokens":600},"completion_tokens_details":{"reasoning_tokens":30000}}}`,
			`[DONE]`,
		} {
			fmt.Fprintf(w, "data: %s\n\n", data)
		}
	})
	u.configure(`{"models": {"openai/m": {"price": {"input": 1, "output": 5, "cache_read": 0.1}}}}`)
	r := u.run("-p", "--output-format", "json", "--model", "openai/m", "--max-cost", "0.5", "--max-turns", "30", "go").wants(6, "USD were spent")
	got, each := r.result(), (400*1+30100*5+600*0.1)/1e6
	if usd, _ := got["cost_usd"].(float64); got["turns"] != float64(4) || got["cause"] != "budget" || math.Abs(usd-4*each) > 1e-9 {
		t.Errorf("%v turns, cause %v, cost %v", got["turns"], got["cause"], got["cost_usd"])
	}
}

func TestALimitInMoneyNeedsAPrice(t *testing.T) {
	u := newUser(t)
	u.serve(func(w http.ResponseWriter, _ *http.Request) {
		t.Error("the model was asked")
		io.WriteString(w, "{}")
	})
	u.run("-p", "--model", "openai/m", "--max-cost", "1", "go").wants(2, "the price of openai/m is not known", `"models"`, "config.json")
	u.run("-p", "--model", "openai/m", "--max-cost", "-1", "go").wants(2, "cannot be negative")
}
