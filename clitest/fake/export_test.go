package fake

// NoLeaksFor is NoLeaks with another time to wait.
var NoLeaksFor = noLeaks

// ForgetMain makes it as if Main had not been called, until undo.
func ForgetMain() (undo func()) {
	called = false
	return func() { called = true }
}
