package terminal

import "golang.org/x/term"

// file is a stream with a descriptor, as an [os.File] is.
type file interface{ Fd() uintptr }

// Is reports whether a stream is a terminal.
func Is(stream any) bool {
	f, ok := stream.(file)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Columns is how wide the terminal is that a stream goes to; 0 where that is not known.
func Columns(stream any) int {
	if f, ok := stream.(file); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 0
}
