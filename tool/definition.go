package tool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

// Definition is the canonical, frozen public face of a tool. Every Definition handed out is a copy:
// changing one changes nothing elsewhere.
type Definition struct {
	Type           string          `json:"type"` // always "function"
	Name           string          `json:"name"`
	Description    string          `json:"description"`
	Parameters     json.RawMessage `json:"parameters"`
	ProviderSchema json.RawMessage `json:"provider_schema,omitempty"`
	Strict         *bool           `json:"strict,omitempty"`
	AllowNoSchema  bool            `json:"allow_no_schema,omitempty"`
	NoSchemaMode   NoSchemaMode    `json:"no_schema_mode,omitempty"`
	Safety         Safety          `json:"safety"`
	Capabilities   Capabilities    `json:"capabilities"`
	Tags           []string        `json:"tags,omitempty"`
	Roles          []string        `json:"roles,omitempty"`
	Aliases        []string        `json:"aliases,omitempty"`
	Permissions    Permissions     `json:"permissions"`
	CostClass      string          `json:"cost_class,omitempty"`
	// Digest is the SHA-256 of all fields above, in hexadecimal.
	Digest string `json:"digest"`
}

// Safety is what the author says about harm.
type Safety struct {
	Safe             bool   `json:"safe"`
	ThreatLevel      string `json:"threat_level,omitempty"` // low, medium or high
	RequiresApproval bool   `json:"requires_approval,omitempty"`
}

// Capabilities is what the tool can do beside returning a result.
type Capabilities struct {
	Streaming   bool `json:"streaming,omitempty"`
	Background  bool `json:"background,omitempty"`
	Attachments bool `json:"attachments,omitempty"`
}

// NoSchemaMode says what a call without a schema may do.
type NoSchemaMode string

// Modes for tools without a schema.
const (
	NoSchemaReadOnly NoSchemaMode = "read-only"      // side effects are refused
	NoSchemaApproval NoSchemaMode = "human-approval" // always asked, denied when nobody is there
	NoSchemaFull     NoSchemaMode = "full"           // as any other tool
)

// Offered is the schema shown to the model: the compact view where there is one.
func (d Definition) Offered() json.RawMessage {
	if len(d.ProviderSchema) > 0 {
		return d.ProviderSchema
	}
	return d.Parameters
}

// Concurrent reports whether calls may run beside each other: they only read or use the network.
func (d Definition) Concurrent() bool {
	return !d.Permissions.SideEffects() && len(d.Permissions.Required) > 0
}

func (d Definition) clone() Definition {
	d.Parameters = bytes.Clone(d.Parameters)
	d.ProviderSchema = bytes.Clone(d.ProviderSchema)
	d.Tags, d.Roles, d.Aliases = slices.Clone(d.Tags), slices.Clone(d.Roles), slices.Clone(d.Aliases)
	d.Permissions.Required = slices.Clone(d.Permissions.Required)
	d.Permissions.Optional = slices.Clone(d.Permissions.Optional)
	if d.Strict != nil {
		strict := *d.Strict
		d.Strict = &strict
	}
	return d
}

// define freezes a configuration that checkConfig accepted.
func define[Args, Meta any](id string, c Config[Args, Meta], in Init) (Definition, error) {
	description, err := fill(c.Description, in)
	if err != nil {
		return Definition{}, fmt.Errorf("tool %s: %w", id, err)
	}
	parameters := c.Parameters
	if parameters == nil {
		if parameters, err = parametersOf[Args](c.AllowNoSchema); err != nil {
			return Definition{}, fmt.Errorf("tool %s: %w", id, err)
		}
	}
	d := Definition{
		Type: "function", Name: id, Description: description,
		Parameters: parameters, ProviderSchema: c.ProviderSchema, Strict: c.Strict,
		AllowNoSchema: c.AllowNoSchema, NoSchemaMode: c.NoSchemaMode,
		Safety: c.Safety, Capabilities: c.Capabilities, Tags: c.Tags, Roles: c.Roles,
		Aliases: c.Aliases, Permissions: c.Permissions, CostClass: c.CostClass,
	}.clone()
	raw, err := json.Marshal(d)
	if err != nil {
		return Definition{}, fmt.Errorf("tool %s: encode definition: %w", id, err)
	}
	// Marshal compacts the schema; hashing the author's own bytes as well makes the digest verbatim.
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%d %s\n%d %s", raw, len(d.Parameters), d.Parameters, len(d.ProviderSchema), d.ProviderSchema)
	d.Digest = hex.EncodeToString(sum.Sum(nil))
	return d, nil
}

// parametersOf derives the schema, or for a tool that is allowed none the schema that accepts any object.
func parametersOf[Args any](allowNone bool) (json.RawMessage, error) {
	schema, err := SchemaOf[Args]()
	if err != nil && allowNone {
		return json.RawMessage(`{"type":"object"}`), nil
	}
	return schema, err
}
