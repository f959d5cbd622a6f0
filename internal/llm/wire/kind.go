package wire

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"adze/session"
)

// classify returns a failure's kind. Its text comes before the status, because providers use 400
// and 500 for everything. In a response that began well, a code that is an HTTP status replaces it.
func classify(status int, s Refusal) session.ErrorKind {
	if code, err := strconv.Atoi(s.Code); status == 0 && err == nil && code >= 400 && code <= 599 {
		status = code
	}
	text := strings.ToLower(s.Text + " " + s.Kind + " " + s.Code)
	switch {
	case spent(text, s.Code):
		return session.AuthError // waiting does not help
	case status != http.StatusTooManyRequests && !hurried(text) && (tooLong(text, s.Code) || tooMany(text)):
		return session.ContextError
	case filtered(text):
		return session.RefusedAnswer
	}
	return byStatus(status, text)
}

// spent recognizes an account without money or quota, which many servers report as too many
// requests. All texts here are lower case; the tests name their servers.
func spent(text, code string) bool {
	if containsAny(text, "quota exceeded for metric") && !containsAny(text, "limit: 0") {
		return false // Google's text for an exhausted minute
	}
	return containsAny(text, "insufficient_quota", "insufficient quota", "exceeded your current quota", "exceeded your current token quota",
		"exceeded_current_quota", "quota_exceeded", "no quota", "quota exhausted", "quota has been exhausted", "free tier of the model has been exhausted",
		"credit balance", "insufficient balance", "insufficient_balance", "insufficient account balance", "balance is insufficient",
		"balance is not enough", "not enough balance", "not_enough_balance", "insufficient credit", "insufficient_credit",
		"insufficient funds", "insufficient_funds", "out of credits", "used all available credits", "credits are depleted",
		"credits have been exhausted", "included credits", "credit limit exceeded", "more credits", "billing_hard_limit", "billing hard limit",
		"billing_not_active", "check your billing", "check your plan and billing", "spending limit", "specified api usage limits", "usage limit reached",
		"usage_limit_reached", "usage limit has been reached", "weekly/monthly limit", "arrearage", "in good standing",
		"account is overdue", "accountoverdue", "account overdue", "please recharge", "top up your", "余额不足", "欠费", "额度已用") ||
		slices.Contains([]string{"1113", "1308", "1310"}, code) // Z.ai: no balance; the plan's limits for hours and months
}

// hurried recognizes a rate limit whose text resembles that of a long prompt.
func hurried(text string) bool {
	return containsAny(text, "per minute", "per day", "per hour", "per second", "rate limit", "rate_limit", "rate-limit", "ratelimit", "please wait", "throttl") &&
		!containsAny(text, "request too large for") // Groq: it will never fit into a minute
}

// tokenLimit recognizes other texts about tokens above some limit.
func tokenLimit(text string) bool {
	// Starts call this for 404 responses, and compiling is most of the work.
	if !containsAny(text, "exceed", "than", "over", "above") {
		return false
	}
	return regexp.MustCompile(`\b(tokens?|prompt|input|messages?|request|context|sequence)\b[^.]{0,80}`+
		`\b(exceed(s|ed|ing)?|larger than|longer than|greater than|more than|over|above)\b[^.]{0,60}`+
		`\b(max(imum)? (allowed )?(input |prompt |context |total |model )?(tokens?|length)|token limit|`+
		`(input|prompt|context|sequence|max_?seq(uence)?)[ _]?(token )?(length|len|limit|window|size)|limit of \d+( tokens)?)`).MatchString(text) &&
		!containsAny(text, "image", "max_tokens", "max_completion_tokens", "max_output_tokens", "budget", "tools", "file")
}

// tooLong recognizes a prompt that exceeds the context, worded differently by every server.
func tooLong(text, code string) bool {
	if containsAny(text, "context length", "context size", "context window", "context limit", "context_length", "context_size") &&
		containsAny(text, "exceed", "longer than", "too long", "too large", "maximum", "greater than", "overflow", "full", "limit reached", "reached its", "configured") {
		return true
	}
	if containsAny(text, "prompt is too long", "prompt too long", "prompt_too_long", "input is too long", "input too long", "input_too_long", "input token count",
		"input tokens exceed", "input tokens exceeded", "too many tokens", "too many input tokens", "request_too_large", "reduce the length of the messages",
		"reduce the length of the input", "reduce your message size", "reduce your prompt", "shorten your prompt", "shorten the prompt",
		"maximum prompt length", "maximum model length", "maximum input length", "model token limit", "exceeds the maximum number of tokens",
		"exceeds maximum context", "context overflow", "context_overflow", "`inputs` tokens", "`inputs` must have less than",
		"prompt exceeds max", "max tokens allowed", "max_prompt_tokens_exceeded", "tokens_limit_reached", "string_above_max_length",
		"range of input length should be", "length of prompt_tokens", "exceed max message tokens", "max_seq_len", "request body too large for",
		"token limit exceeded", "should not exceed max_num_tokens", "larger than max_input_len", "token length exceed", "total message size",
		"prompt is too large", "conversation is too long", "context too large", "context too long", "context is too long",
		"上下文长度", "输入长度", "prompt 超长", "prompt超长", "超过最大长度", "超出最大长度", "超过模型最大") {
		return true
	}
	return code == "1261" /* Z.ai */ || code == "model_context_window_exceeded" ||
		tokenLimit(text)
}

// tooMany recognizes a prompt with too many pictures or too many bytes of them; some servers take
// five. Every request carries the earlier ones, so the conversation could not continue with them.
func tooMany(text string) bool {
	return containsAny(text, "too many images", "too_many_images", "too much media", "many-image requests", "request payload size exceeds") ||
		containsAny(text, "image", "picture") && regexp.MustCompile(`\b(at most|up to|maximum of|more than|limit(ed)? (of|to)) \d+ (images?|pictures?)\b|\b(image count|number of images|\d+ images)\b.{0,40}\bexceed`).MatchString(text)
}

// filtered recognizes a prompt or an answer refused by a filter.
func filtered(text string) bool {
	return containsAny(text, "content_filter", "content_policy", "content policy", "content management policy", "content filtering policy", "safety system",
		"responsibleaipolicy", "usage policy", "usage policies", "data_inspection_failed", "datainspectionfailed", "inappropriate content",
		"content exists risk", "considered high risk", "unsafe or sensitive content", "new_sensitive", "sensitivecontentdetected",
		"prohibited_content", "model_armor", "model armor", "guardrail_intervened")
}

// Blocked reports whether an answer ended because the model or a filter refused, by the reasons of
// all formats, in either case.
func Blocked(reason string) bool {
	switch reason = strings.ToLower(reason); reason {
	case "refusal", "refused", "sensitive", "safety", "recitation", "language", "blocklist", "spii", "jailbreak", "blocked",
		"guardrail_intervened", "guardrail", "model_armor":
		return true
	}
	return containsAny(reason, "content_filter", "contentfilter", "prohibited_content", "_safety", "_recitation", "model_armor")
}

// IsParseFailure reports whether an answer ended because its server could not parse a call, by
// Gemini's reasons, in either case.
func IsParseFailure(reason string) bool {
	return containsAny(strings.ToLower(reason), "malformed_function_call", "function_call_filter", "unexpected_tool_call", "malformed_tool_call", "malformed_tool_use", "malformed_response", "malformed_model_output")
}

// byStatus classifies a failure without a known text.
func byStatus(status int, text string) session.ErrorKind {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusPaymentRequired:
		return session.AuthError
	case status == http.StatusNotFound && containsAny(text, "model", "not_found"):
		return session.NoModelError
	case status == http.StatusTooManyRequests || status == 529:
		return session.RateError
	case status == http.StatusRequestEntityTooLarge:
		return session.ContextError
	case status == http.StatusRequestTimeout || status == http.StatusConflict || status == http.StatusTooEarly || status == http.StatusFailedDependency || status >= 500:
		return session.ServerError
	case containsAny(text, "overloaded", "rate_limit", "rate limit"):
		return session.RateError
	case containsAny(text, "model unloaded", "the model has crashed"): // LM Studio, which loads it again
		return session.ServerError
	case containsAny(text, "invalid_api_key", "api key not valid", "api key not found", "api key expired", "authentication_error",
		"permission_error"):
		return session.AuthError
	case containsAny(text, "model_not_found", "not_found_error", "model identifier is invalid") || containsAny(text, "model") && containsAny(text, "not found", "does not exist"):
		return session.NoModelError
	case status == 0 && !containsAny(text, "invalid_request"):
		return session.ServerError
	}
	return session.RequestError
}

func containsAny(text string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
