package call

import "fmt"

// Confinement tells whether the kernel confines the CLI to the files that the access level of a request permits. Only
// Linux can; see docs/reference/confinement.md. The zero value means ConfineAuto.
type Confinement string

const (
	// ConfineAuto, also the meaning of the zero value: confine calls with AccessNone, AccessRead and AccessWrite if the
	// system can and the spec lists the files of the CLI. Response.Confined reports whether it does. A call whose state
	// or directory prevents the confinement is refused, with ReasonUnconfined.
	ConfineAuto Confinement = "auto"
	// ConfineRequired: refuse a call that would not be confined, with ReasonUnconfined.
	ConfineRequired Confinement = "required"
	// ConfineOff: confine no call.
	ConfineOff Confinement = "off"
)

// UnmarshalText parses a Confinement. Unknown values are errors.
func (c *Confinement) UnmarshalText(text []byte) error {
	switch v := Confinement(text); v {
	case ConfineAuto, ConfineRequired, ConfineOff:
		*c = v
		return nil
	}
	return fmt.Errorf("is %q: use auto, required or off", text)
}
