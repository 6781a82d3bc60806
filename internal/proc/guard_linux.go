package proc

// guard is replaced below.
type noGuard struct{}

func (noGuard) ensure()    {}
func (noGuard) enter(stat) {}
func (noGuard) leave(stat) {}

var guard noGuard
