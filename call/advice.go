package call

import "strings"

// Advice is a change of one field that would help: of the request, as in [Error].Option, of "config" or of
// "permissions".
type Advice struct {
	Action Action `json:"action"`
	Field  string `json:"field"`           // such as "dir", "options.mcp_config" or "config.trust_dir"
	Value  string `json:"value,omitempty"` // the value that Action needs
}

// Action is the kind of change that an [Advice] recommends.
type Action string

// The actions.
const (
	ActionSet    Action = "set"    // set the field, to Value if there is one
	ActionUnset  Action = "unset"  // clear the field
	ActionRaise  Action = "raise"  // set the field to Value or a higher level
	ActionAdd    Action = "add"    // add Value to the list or map
	ActionPass   Action = "pass"   // set the environment variable Value, and add its name to the list
	ActionTrust  Action = "trust"  // set the field if you trust the file Value
	ActionPermit Action = "permit" // an operator can permit the value with the field
)

// adviceTexts are the texts of the actions, with {field} and {value}.
var adviceTexts = map[Action]string{
	ActionSet:    "set {field} to {value}",
	ActionUnset:  "leave {field} empty",
	ActionRaise:  "set {field} to {value} or more",
	ActionAdd:    "add {value} to {field}",
	ActionPass:   "set {value} and add it to {field}",
	ActionTrust:  "read {value}, and set {field} if you trust it",
	ActionPermit: "the operator can allow it with {field}",
}

// String returns the advice with the Go name of the field, for example set Config.TrustDir.
func (a Advice) String() string {
	field, text := goName(a.Field), adviceTexts[a.Action]
	value := a.Value
	switch {
	case a.Value == "":
		text = strings.TrimSuffix(text, " to {value}")
	case a.Action == ActionSet || a.Action == ActionRaise: // a constant, such as AccessRead
		value = field[strings.LastIndexByte(field, '.')+1:] + goName(a.Value)
	}
	return strings.NewReplacer("{field}", field, "{value}", value).Replace(text)
}

// goName returns the Go name of a field, such as Options.MCPConfig for options.mcp_config.
func goName(field string) string {
	names := strings.Split(field, ".")
	for i, name := range names {
		words := strings.Split(name, "_")
		for j, word := range words {
			if word == "mcp" || word == "id" {
				words[j] = strings.ToUpper(word)
			} else if word != "" {
				words[j] = strings.ToUpper(word[:1]) + word[1:]
			}
		}
		names[i] = strings.Join(words, "")
	}
	return strings.Join(names, ".")
}

// JoinHint joins hint and the advice as alternatives on one line. The function text renders an Advice; JoinHint omits
// an Advice whose text is empty.
func JoinHint(hint string, advice []Advice, text func(Advice) string) string {
	ways := make([]string, 0, 1+len(advice))
	if hint != "" {
		ways = append(ways, hint)
	}
	for _, a := range advice {
		if s := text(a); s != "" {
			ways = append(ways, s)
		}
	}
	return strings.Join(ways, ", or ")
}
