package anthropic

import (
	"encoding/json"

	"adze/internal/llm/wire"
)

// One struct holds the fields of all stream events; type selects the valid ones.
type (
	event struct {
		Type    wire.Word   `json:"type"`
		Index   wire.Number `json:"index"`
		Message wire.Lenient[struct {
			Usage wire.Lenient[usage] `json:"usage"`
		}] `json:"message"`
		Block wire.Maybe[contentBlock] `json:"content_block"`
		Delta wire.Maybe[delta]        `json:"delta"`
		Usage wire.Lenient[usage]      `json:"usage"`
		Error json.RawMessage          `json:"error"`
	}
	contentBlock struct {
		Type      wire.Word       `json:"type"`
		ID        wire.Word       `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Data      string          `json:"data"`
	}
	delta struct {
		Type       wire.Word `json:"type"`
		Text       string    `json:"text"`
		JSON       string    `json:"partial_json"`
		Thinking   string    `json:"thinking"`
		Signature  string    `json:"signature"`
		StopReason wire.Word `json:"stop_reason"`
	}
	// Pointers, because later events repeat only some counts.
	usage struct {
		Input      *wire.Count `json:"input_tokens"`
		Output     *wire.Count `json:"output_tokens"`
		CacheRead  *wire.Count `json:"cache_read_input_tokens"`
		CacheWrite *wire.Count `json:"cache_creation_input_tokens"`
		// Creation splits CacheWrite by cache lifetime.
		Creation wire.Lenient[struct {
			Minutes wire.Count `json:"ephemeral_5m_input_tokens"`
			Hour    wire.Count `json:"ephemeral_1h_input_tokens"`
		}] `json:"cache_creation"`
		Total *wire.Count `json:"total_tokens"` // sent by gateways
	}
)
