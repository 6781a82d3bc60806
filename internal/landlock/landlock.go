// Package landlock starts confined programs on Linux: the kernel denies a program and its descendants all access to
// files that the rules do not grant. On other systems it starts nothing.
package landlock

// Access is a set of rights on a file, or on a directory with everything below it.
type Access uint64

// Rule grants rights on a path. Symbolic links are followed when the rule is made.
type Rule struct {
	Path   string `json:"path"`
	Access Access `json:"access"`
	// NoLinks: the path has no symbolic links. If another process has put one into it, the rule grants nothing.
	NoLinks bool `json:"no_links,omitempty"`
}

// String returns the rights as letters: r (read files and list directories), x (execute), w (create, change and
// remove), d (control devices).
func (a Access) String() string {
	var letters []byte
	for _, right := range []struct {
		access Access
		letter byte
	}{{Read, 'r'}, {Execute, 'x'}, {Write, 'w'}, {Device, 'd'}} {
		if a&right.access != 0 {
			letters = append(letters, right.letter)
		}
	}
	return string(letters)
}

// UnsupportedError is the error for a system that cannot confine programs: it has no Landlock, or it blocks its system
// calls.
type UnsupportedError struct{ Problem string }

// Error returns the problem.
func (e *UnsupportedError) Error() string { return e.Problem }

// RefusedError is the error for a program that was not started because the system refused to restrict it.
type RefusedError struct{ Err error }

// Error includes the error of the system.
func (e *RefusedError) Error() string { return "cannot confine the program: " + e.Err.Error() }

// Unwrap returns the error of the system.
func (e *RefusedError) Unwrap() error { return e.Err }
