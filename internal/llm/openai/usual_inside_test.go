package openai

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
)

// pieces are as servers send them: OpenAI, vLLM (with spaces), DeepSeek, OpenRouter, llama.cpp.
func pieces() []string {
	return []string{
		`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o","service_tier":"default","system_fingerprint":"fp_44","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"Q6"}`,
		`{"choices":[{"index":0,"delta":{"content":"a \"word\" \u00e9 \ud83d\ude00 ü\n"}}]}`,
		`{"id": "x", "choices": [{"index": 0, "delta": {"content": null, "reasoning_content": "so"}, "finish_reason": null}]}`,
		`{"choices":[{"index":0,"delta":{"content":"","reasoning":"so"},"finish_reason":"","native_finish_reason":null}]}`,
		`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"read","arguments":""}},{"index":1,"function":{"arguments":"{\"a\":\"\\u00e9\""}}]}}]}`,
		`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
		`{"choices":[]}`,
	}
}

func TestUsualPiecesAreReadInOnePass(t *testing.T) {
	for _, p := range pieces() {
		if _, ok := usual([]byte(p)); !ok {
			t.Errorf("not read: %s", p)
		}
	}
}

// Whatever comes of a piece that was changed at random, the quick reader says the same as the
// decoder, or leaves it to that.
func TestUsualPiecesAreReadAsTheDecoderReadsThem(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{`"`, `\`, `{`, `}`, `[`, `]`, `,`, `:`, ` `, `null`, `0`, `-1`, `1.0`, `true`, "\x80", "\n", `"index":2,`, `"Content":"x",`, `"content":"x",`, `"delta":{"role":null},`,
		`"error":{},`, `"name":"n",`, `"message":"m",`, `"finish_reason":7,`, `\ud800`, `"usage":{"prompt_tokens":1},`, `"function":{"name":"w"},`, `"tool_calls":[{}],`}
	read := 0
	for range 200_000 {
		list := pieces()
		piece := list[random.IntN(len(list))]
		for range random.IntN(3) + 1 {
			at := random.IntN(len(piece) + 1)
			end := min(len(piece), at+random.IntN(4)*random.IntN(4))
			piece = piece[:at] + parts[random.IntN(len(parts))] + piece[end:]
		}
		got, ok := usual([]byte(piece))
		if !ok {
			continue
		}
		read++
		var want chunk
		if err := json.Unmarshal([]byte(piece), &want); err != nil {
			t.Fatalf("%s\nis refused by the decoder: %v", piece, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\nis %+v\nand to the decoder %+v", piece, got, want)
		}
	}
	if read < 1000 {
		t.Errorf("only %d pieces were read", read)
	}
}
