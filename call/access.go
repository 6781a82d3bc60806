package call

import (
	"fmt"
	"slices"
)

// Access says what an agent may do while it answers. Nothing is ever implied:
// the zero value is the safest.
type Access int

const (
	// AccessNone, the zero value, is a lean completion: no tools, no agent
	// system prompt. Always safe to run again.
	AccessNone Access = iota
	// AccessRead lets the agent look at files, and change nothing.
	AccessRead
	// AccessWrite lets the agent edit files in Request.Dir.
	AccessWrite
	// AccessFull uses the CLI's bypass flags: the agent may do anything this
	// user may do.
	AccessFull
)

var accessNames = []string{"none", "read", "write", "full"}

// String is "none", "read", "write" or "full".
func (a Access) String() string {
	if a < 0 || int(a) >= len(accessNames) {
		return fmt.Sprintf("Access(%d)", int(a))
	}
	return accessNames[a]
}

// MarshalText writes the name; an access level out of range is an error.
func (a Access) MarshalText() ([]byte, error) {
	if a < 0 || int(a) >= len(accessNames) {
		return nil, fmt.Errorf("access: %d is none of %q", int(a), accessNames)
	}
	return []byte(accessNames[a]), nil
}

// UnmarshalText reads a name; the empty text is AccessNone.
func (a *Access) UnmarshalText(text []byte) error {
	i := slices.Index(accessNames, string(text))
	if i < 0 && len(text) > 0 {
		return fmt.Errorf("access: %q is none of %q", text, accessNames)
	}
	*a = Access(max(i, 0))
	return nil
}
