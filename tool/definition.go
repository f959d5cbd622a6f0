package tool

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
)

// Definition is a tool's canonical, frozen description. Every Definition handed out is a copy,
// which may be changed.
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
	// Digest is the hexadecimal SHA-256 of the fields above.
	Digest string `json:"digest"`
}

// Safety is the author's risk assessment.
type Safety struct {
	Safe             bool   `json:"safe"`
	ThreatLevel      string `json:"threat_level,omitempty"` // low, medium or high
	RequiresApproval bool   `json:"requires_approval,omitempty"`
}

// Declared is the tag for tools declared in a user's file.
const Declared = "declared"

// Capabilities lists a tool's abilities beside returning a result.
type Capabilities struct {
	Streaming   bool `json:"streaming,omitempty"`
	Background  bool `json:"background,omitempty"`
	Attachments bool `json:"attachments,omitempty"`
}

// NoSchemaMode restricts calls without a schema.
type NoSchemaMode string

// Modes for tools without a schema.
const (
	NoSchemaReadOnly NoSchemaMode = "read-only"      // no side effects
	NoSchemaApproval NoSchemaMode = "human-approval" // always asked; denied if nobody is there
	NoSchemaFull     NoSchemaMode = "full"           // like other tools
)

// Breach returns why a call with these needs must not run regardless of the gate, or "". A tool
// with unchecked arguments in read-only mode may do nothing else.
func (d Definition) Breach(needs []Need) string {
	if !d.AllowNoSchema || d.NoSchemaMode != NoSchemaReadOnly {
		return ""
	}
	for _, n := range needs {
		if n.Permission != Read {
			return d.Name + " takes unchecked arguments and may only read, but this call needs " + string(n.Permission)
		}
	}
	if d.Permissions.SideEffects() {
		return d.Name + " takes unchecked arguments and may only read, but it is declared to change things"
	}
	return ""
}

// Offered returns the schema for the model: the compact view if there is one.
func (d Definition) Offered() json.RawMessage {
	if len(d.ProviderSchema) > 0 {
		return d.ProviderSchema
	}
	return d.Parameters
}

// Concurrent reports whether calls may run concurrently, since they only read or use the network.
func (d Definition) Concurrent() bool {
	return !d.Permissions.SideEffects() && len(d.Permissions.Required) > 0
}

// Clone returns a deep copy.
func (d Definition) Clone() Definition {
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

// sum returns the digest of all fields but Digest. Each text and list follows its length, so that
// nothing can move between fields, and schemas count as written.
func (d Definition) sum() string {
	b := make([]byte, 0, len(d.Description)+len(d.Parameters)+len(d.ProviderSchema)+512)
	number := func(n int) { b = binary.AppendUvarint(b, uint64(n)) }
	text := func(s string) { number(len(s)); b = append(b, s...) }
	flag := func(v bool) { b = strconv.AppendBool(b, v) }
	list := func(l []string) {
		number(len(l))
		for _, s := range l {
			text(s)
		}
	}
	granted := func(l []Permission) {
		number(len(l))
		for _, p := range l {
			text(string(p))
		}
	}
	for _, s := range []string{
		d.Type, d.Name, d.Description, string(d.Parameters), string(d.ProviderSchema),
		string(d.NoSchemaMode), d.Safety.ThreatLevel, d.CostClass,
	} {
		text(s)
	}
	flag(d.ProviderSchema != nil)
	flag(d.Strict != nil)
	flag(d.Strict != nil && *d.Strict)
	for _, v := range []bool{
		d.AllowNoSchema, d.Safety.Safe, d.Safety.RequiresApproval,
		d.Capabilities.Streaming, d.Capabilities.Background, d.Capabilities.Attachments,
	} {
		flag(v)
	}
	list(d.Tags)
	list(d.Roles)
	list(d.Aliases)
	granted(d.Permissions.Required)
	granted(d.Permissions.Optional)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
