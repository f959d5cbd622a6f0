package wire_test

import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"adze/internal/llm/wire"
	"adze/session"
)

func kindOf(t *testing.T, c wire.Client, object string) (session.ErrorKind, string) {
	t.Helper()
	var failure *session.ProviderError
	if !errors.As(c.Object(json.RawMessage(object)), &failure) {
		t.Fatalf("%s: no provider error", object)
	}
	return failure.Kind, failure.Message
}

// openai 7.59.0 and @anthropic-ai/sdk 1.14.0 ask again at 409, and at 400 with x-should-retry:
// true, and not at 429 with x-should-retry: false.
func TestAServerSaysWhetherTryingAgainHelps(t *testing.T) {
	for said, want := range map[string]bool{"429 false": false, "429 true": true, "429 ": true, "400 true": true, "400 ": false, "409 ": true} {
		status, again, _ := strings.Cut(said, " ")
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Should-Retry", again)
			code, _ := strconv.Atoi(status) // it is a number
			w.WriteHeader(code)
		}))
		defer server.Close()
		c := wire.Client{Provider: "p", HTTP: server.Client(), Idle: time.Minute}
		_, err := c.Open(t.Context(), wire.Call{Method: http.MethodPost, URL: server.URL})
		var failure *session.ProviderError
		if !errors.As(err, &failure) || failure.Temporary() != want {
			t.Errorf("%q: %#v", said, err)
		}
	}
}

// The wordings are those of public servers; only the numbers are made up.
func TestWordingsOfAPromptThatDoesNotFit(t *testing.T) {
	c := wire.Client{Provider: "p"}
	for server, said := range map[string]string{
		"openai":      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
		"anthropic":   "prompt is too long: 210000 tokens > 200000 maximum",
		"anthropic2":  "input length and `max_tokens` exceed context limit: 180000 + 32000 > 200000",
		"llama.cpp":   "the request exceeds the available context size, try increasing it",
		"ollama":      "the input length exceeds the context length",
		"ollama2":     "the prompt is longer than the context length currently available to the model",
		"gemini":      "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
		"bedrock":     "Input is too long for requested model.",
		"groq":        "Please reduce the length of the messages or completion.",
		"xai":         "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
		"kimi":        "Invalid request: Your request exceeded model token limit: 131072",
		"vllm":        "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
		"lm studio":   "Trying to keep the first 5000 tokens when context the overflows. The model is loaded with context length of only 4096 tokens",
		"tgi":         "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096.",
		"minimax":     "invalid params, context window exceeds limit",
		"z.ai":        "Prompt exceeds max length",
		"z.ai2":       "tokens in request more than max tokens allowed",
		"dashscope":   "Range of input length should be [1, 129024]",
		"dashscope2":  "Input token length exceeds the model's maximum input length",
		"copilot":     "prompt token count of 135022 exceeds the limit of 128000",
		"github":      "Request body too large for gpt-4o model. Max size: 8000 tokens.",
		"responses":   "Your input exceeds the context window of this model. Please adjust your input and try again.",
		"responses2":  "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.",
		"mistral":     "Prompt contains 142000 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
		"together":    "The input (40000 tokens) is longer than the model's context length (32768 tokens).",
		"siliconflow": "length of prompt_tokens (40000) must be less than max_seq_len (32768).",
		"volcengine":  "Total tokens of image and text exceed max message tokens.",
		"nova":        "Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
		"tensorrt":    "Prompt length (9000) exceeds maximum input length (8192).",
		"tgi2":        "`inputs` must have less than 4096 tokens. Given: 5000",
		"lm studio2":  "The number of tokens to keep from the initial prompt is greater than the context length.",
		"cohere":      "too many tokens: total number of tokens in the prompt cannot exceed 4081",
		"groq2":       "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size and try again.",
		"openrouter":  "This endpoint's maximum context length is 262144 tokens. However, you requested about 284283 tokens",
		"openai2":     "Invalid 'messages[1].content': string too long. Expected a string with maximum length 10485760. string_above_max_length",
		"pictures":    "Too much media: 0 document pages + 107 images > 100",
		"pictures2":   "too many images and documents: 120 + 0 > 100",
		"pictures3":   "messages.1.content.285.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
		"vllm3":       "At most 1 image(s) may be provided in one request.",
		"groq3":       "Too many images provided. This model supports up to 5 images",
		"azure3":      "Too many images in request. Max is 10.",
		"gateway":     "Image count 5 exceeds limit 4 per request.",
		"gateway2":    "Request contains 52 images, exceeding the maximum of 50 allowed per request",
		"gateway3":    "Number of images (2) exceeds maximum of 1",
		"gemini3":     "Request payload size exceeds the limit: 20971520 bytes.",
		"goose":       "Prompt has 49231 tokens, but the configured context size is 49152 tokens",
		"generic2":    "Token limit exceeded: 130000 > 128000",
		"tensorrt2":   "The sum of prompt length (28000.0), query length (0) should not exceed max_num_tokens (8192)",
		"tensorrt3":   "the number of input tokens 40000 is larger than max_input_len 32768",
		"kimi2":       "Invalid request: total message size 5000000 exceeds limit 4194304",
		"kimi3":       "Total message token length exceed model limit",
		"generic3":    "Your prompt is too large",
		"generic4":    "conversation is too long",
		"generic":     "The total number of tokens is larger than the maximum sequence length",
	} {
		if kind, _ := kindOf(t, c, string(wire.JSON(said))); kind != session.ContextError {
			t.Errorf("%s: %s", server, kind)
		}
	}
	for _, object := range []string{
		`{"code":"1261","message":"Prompt 超长"}`, `{"code":1261,"message":"too much"}`,
		`{"code":"model_max_prompt_tokens_exceeded","message":"too much"}`,
	} {
		if kind, _ := kindOf(t, c, object); kind != session.ContextError {
			t.Errorf("%s: %s", object, kind)
		}
	}
	for _, said := range []string{"the context was cancelled", "unknown field context_length_hint", "the maximum is 4 markers",
		"this model takes no images", "messages.7.content.2.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels",
		"messages.3.content.1: image exceeds 5 MB maximum: 7000000 bytes > 5242880 bytes",
		"max_tokens: 200000 exceeds the limit of 64000 tokens for this model",
		"This request would exceed your organization's rate limit of 40,000 input tokens per minute",
		"Too many tokens, please wait before trying again.",
		"tools.0.function.name exceeds the maximum length", "`thinking.budget_tokens` exceeds the limit of 1000"} {
		if kind, _ := kindOf(t, c, string(wire.JSON(said))); kind == session.ContextError {
			t.Errorf("%q is taken for a long prompt", said)
		}
	}
}

func TestErrorObjects(t *testing.T) {
	c := wire.Client{Provider: "p", Secret: "sk-0123456789"}
	for object, want := range map[string]string{
		`"it broke"`: "server p: it broke",
		`{"message":"No such model: x does not exist","code":"model_not_found"}`:    "no_model p: No such model: x does not exist",
		`{"type":"overloaded_error","message":"Overloaded"}`:                        "rate_limit p: Overloaded",
		`{"type":"invalid_request_error","message":"bad\n\tfield\u001b[31m\u0007"}`: "request p: bad field [31m",
		`{"type":"api_error"}`: "server p: api_error",
		// LM Studio says these of a request that is right; it loads the model again.
		`{"type":"invalid_request_error","message":"Model unloaded."}`:                              "server p: Model unloaded",
		`"The model has crashed without additional information. (Exit code: 18446744072635812000)"`: "server p: The model has crashed without additional information. (Exit code: 18446744072635812000)",
		`{"code":500,"message":"key sk-0123456789 and sk-012345*** fail."}`:                         "server p: key [masked] and [masked] fail",
		`{}`:   "bad_response p sent an error without a message",
		`null`: "bad_response p sent an error without a message",
		`17`:   "bad_response p sent an error without a message",
	} {
		kind, message := kindOf(t, c, object)
		if got := string(kind) + " " + message; got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", object, got, want)
		}
	}
	if _, message := kindOf(t, c, string(wire.JSON(strings.Repeat("ä", 2000)))); len(message) > 420 || !strings.HasSuffix(message, "…") {
		t.Errorf("%d bytes of message", len(message))
	}
}

// A limit of money or quota is no matter of waiting, whatever status it comes with.
func TestWordingsOfAnAccountThatIsSpent(t *testing.T) {
	c := wire.Client{Provider: "p"}
	for server, object := range map[string]string{
		"deepseek":   `{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}`,
		"z.ai":       `{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}`,
		"bigmodel":   `{"code":"1113","message":"余额不足或无可用资源包,请充值。"}`,
		"z.ai plan":  `{"code":"1308","message":"Usage limit reached for 5 hour. Your limit will reset at 2026-01-02 03:04:05"}`,
		"moonshot":   `{"type":"exceeded_current_quota_error","message":"Your account is suspended, please check your plan and billing details"}`,
		"openai":     `{"code":"insufficient_quota","message":"You exceeded your current quota"}`,
		"openai2":    `{"code":"billing_not_active","message":"Your account is not active, please check your billing details on our website."}`,
		"anthropic":  `{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}`,
		"anthropic2": `{"type":"invalid_request_error","message":"You have reached your specified API usage limits."}`,
		"dashscope":  `{"code":"Arrearage","message":"Access denied, please make sure your account is in good standing."}`,
		"xai":        `"Your team has either used all available credits or reached its monthly spending limit."`,
		"openrouter": `{"code":402,"message":"This request requires more credits, or fewer max_tokens."}`,
		"minimax":    `{"code":1008,"message":"insufficient balance"}`,
		"copilot":    `{"code":"quota_exceeded","message":"You have exceeded your monthly quota"}`,
		"novita":     `{"code":403,"message":"not enough balance"}`,
		"silicon":    `{"code":30001,"message":"Sorry, your account balance is insufficient"}`,
		"hf":         `"You have exceeded your monthly included credits for Inference Providers."`,
	} {
		if kind, _ := kindOf(t, c, object); kind != session.AuthError {
			t.Errorf("%s: %s", server, kind)
		}
	}
	for _, said := range []string{"rate limit exceeded, slow down", "Rate limit reached for requests per minute", "the queue is full"} {
		if kind, _ := kindOf(t, c, string(wire.JSON(said))); kind == session.AuthError {
			t.Errorf("%q is taken for an empty account", said)
		}
	}
}

func TestWordingsOfAFilter(t *testing.T) {
	c := wire.Client{Provider: "p"}
	for server, object := range map[string]string{
		"azure":     `{"code":"content_filter","message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy."}`,
		"anthropic": `"Output blocked by content filtering policy"`,
		"dashscope": `{"code":"data_inspection_failed","message":"Input data may contain inappropriate content."}`,
		"deepseek":  `"Content Exists Risk"`,
		"moonshot":  `"The request was rejected because it was considered high risk"`,
		"z.ai":      `{"code":"1301","message":"System detected potentially unsafe or sensitive content in input or generation."}`,
		"openai":    `{"code":"invalid_prompt","message":"Your prompt was flagged as potentially violating our usage policy."}`,
	} {
		if kind, _ := kindOf(t, c, object); kind != session.RefusedAnswer {
			t.Errorf("%s: %s", server, kind)
		}
	}
	for _, reason := range []string{"MODEL_ARMOR", "SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "content_filter", "refusal", "guardrail_intervened"} {
		if !wire.Blocked(reason) {
			t.Errorf("%s does not block", reason)
		}
	}
	for _, reason := range []string{"", "STOP", "stop", "MAX_TOKENS", "tool_calls", "OTHER", "MALFORMED_FUNCTION_CALL", "end_turn"} {
		if wire.Blocked(reason) {
			t.Errorf("%s blocks", reason)
		}
	}
}

// A reason that says so is a stumble in every format, also where nothing of the call is shown.
func TestReasonsOfAStumble(t *testing.T) {
	c := wire.Client{Provider: "p", Secret: "sk-0123456789"}
	for reason, stumbles := range map[string]bool{
		"MALFORMED_FUNCTION_CALL": true, "function_call_filter: MALFORMED_FUNCTION_CALL": true, "UNEXPECTED_TOOL_CALL": true, "malformed_function_call": true,
		"OTHER": false, "STOP": false, "tool_calls": false, "": false, "SAFETY": false,
	} {
		if wire.IsParseFailure(reason) != stumbles {
			t.Errorf("%s: %t", reason, !stumbles)
		}
	}
	for wrote, want := range map[string]string{"print(read(\"sk-0123456789\"))": "print(read(\"[masked]\"))", " ": "(a call that the server does not show)"} {
		var failure *session.ProviderError
		if !errors.As(c.ParseFailure("MALFORMED_FUNCTION_CALL", wrote), &failure) || failure.UnparsedCall != want || failure.Kind != session.BadResponse || failure.Temporary() {
			t.Errorf("%q: %#v", wrote, failure)
		}
	}
}

// What a server could not read as a call is the model's stumble, whatever the status, and is told
// with its words.
func TestAnswersThatAServerCouldNotRead(t *testing.T) {
	c := wire.Client{Provider: "p", Secret: "sk-0123456789"}
	for object, want := range map[string]string{
		`{"message":"Failed to call a function. See 'failed_generation'.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=read{\"path\":\"sk-0123456789\"}"}`: `<function=read{"path":"[masked]"}`,
		`{"message":"Parsing failed.","code":"output_parse_failed","failed_generation":"to=read {"}`:                                                                                                 "to=read {",
		`{"message":"Failed to call a function.","code":"tool_use_failed"}`:                                                                                                                          "Failed to call a function.",
		`"error parsing tool call: raw='{\"name\": read}', err=invalid character 'r'"`:                                                                                                               `{"name": read}`,
		`{"message":"it broke"}`: "",
	} {
		var failure *session.ProviderError
		if !errors.As(c.Object(json.RawMessage(object)), &failure) || failure.UnparsedCall != want || want != "" && (failure.Kind != session.BadResponse || failure.Temporary()) {
			t.Errorf("%s: %#v", object, failure)
		}
	}
}

// TestAPlainFailureIsReadWithoutPatterns: a start asks a server of this machine what it is, and most
// answer that they do not know the path.
func TestAPlainFailureIsReadWithoutPatterns(t *testing.T) {
	c, body := wire.Client{Provider: "p"}, json.RawMessage(`{"message":"Not Found: /api/show","code":404}`)
	if n := testing.AllocsPerRun(10, func() { _ = c.Object(body) }); n > 200 { // with patterns 970
		t.Errorf("%v allocations", n)
	}
}

// Go 1.26 on Linux reads the authorities of SSL_CERT_FILE; no second try makes one of them trusted.
func TestACertificateThatNobodySignedIsTriedOnce(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	c := wire.Client{Provider: "p", HTTP: wire.HTTP(&http.Client{}), Idle: time.Minute}
	_, err := c.Open(t.Context(), wire.Call{Method: http.MethodPost, URL: server.URL})
	var failure *session.ProviderError
	if !errors.As(err, &failure) || failure.Temporary() || !strings.Contains(failure.Message, "certificate of p") || !strings.Contains(failure.Hint, "SSL_CERT_FILE") {
		t.Errorf("%+v", err)
	}
}
