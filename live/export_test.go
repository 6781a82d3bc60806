package live

// Idle reports whether no process of a pool is asked, or made ready.
func Idle(p *Pool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.all {
		if one.busy {
			return false
		}
	}
	return true
}
