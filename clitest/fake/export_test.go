package fake

// ForgetMain resets the call of Main until undo is called.
func ForgetMain() (undo func()) {
	called = false
	return func() { called = true }
}
