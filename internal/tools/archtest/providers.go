package archtest

func providers() []Row {
	return []Row{
		{Package: "internal/llm/wire", May: []string{"session", "tool", "internal/text/redact", "internal/files/imagescale"}, Why: "what adapters share"},
		{Package: "internal/llm/replay", May: []string{"session", "tool", "internal/text/redact"}, Why: "a recording is masked as every log is"},
		{Package: "internal/llm/conformance", May: []string{"session", "tool", "internal/llm/*"}, Why: "the suite that all adapters pass"},
		{Package: "internal/llm/clouds", May: []string{"session", "internal/llm/wire"}, Tests: []string{"internal/llm/*"}, Why: "doors for adapters, of which its tests open one"},
		{Package: "internal/llm/*", May: []string{"session", "tool", "internal/llm/wire"}, Why: "adapters depend inwards, not on one another"},
	}
}
