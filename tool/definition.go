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

// Declared is the tag of a tool that a user declared in a file.
const Declared = "declared"

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

// Breach says why a call with these needs may not run whatever a gate says; if empty, it may. A
// tool that takes unchecked arguments and is to read only does nothing else.
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

// Clone is a copy that shares nothing with d: whoever gets it may change it.
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

// sum is the digest of all fields but Digest. Each text and list comes with its length before it,
// so that nothing can move from one field to another, and schemas count as the author wrote them.
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
