package fsm

// A names is the names of owners by number.
type names []*namePage

// A namePage holds the names of pageSize neighbouring numbers. It is copied on
// write by generation, as a [page] is.
type namePage struct {
	generation uint64
	names      [pageSize]string
}

// name returns the name of an owner that a record names.
func (n names) name(owner uint32) string {
	return n[owner/pageSize].names[owner%pageSize]
}

// An owners gives each owner that a record names a small number, for as long
// as one does. The numbers are local to the node; nothing replicated depends on
// them.
type owners struct {
	names
	generation uint64 // the state's
	seed       sipKey
	records    []uint32 // how many name the owner
	numbers    slots
	index      index
}

// find returns the number of an owner that a record names.
func (o *owners) find(name []byte) (uint32, bool) {
	for search := o.index.search(hash(o.seed, name)); ; {
		owner, ok := search.next()
		if !ok || o.name(owner) == string(name) {
			return owner, ok
		}
	}
}

// enter counts one more record of the named owner and returns its number.
func (o *owners) enter(name []byte) uint32 {
	owner, known := o.find(name)
	if !known {
		owner = o.numbers.take()
		o.set(owner, string(name))
		o.index.insert(hash(o.seed, name), owner)
	}
	o.records[owner]++
	return owner
}

// leave counts one record less of an owner, and lets it go with its last one.
// It reports whether the owner was known.
func (o *owners) leave(owner uint32) bool {
	o.records[owner]--
	if o.records[owner] > 0 {
		return true
	}
	known := o.index.remove(hash(o.seed, o.name(owner)), owner)
	o.set(owner, "")
	if o.numbers.give(owner) {
		o.names[owner/pageSize] = nil
	}
	o.fit()
	return known
}

func (o *owners) set(owner uint32, name string) {
	o.fit()
	at := &o.names[owner/pageSize]
	switch {
	case *at == nil:
		*at = &namePage{generation: o.generation}
	case (*at).generation != o.generation:
		c := **at
		c.generation = o.generation
		*at = &c
	}
	(*at).names[owner%pageSize] = name
}

// fit makes names and records as long as the numbers reach.
func (o *owners) fit() {
	pages := o.numbers.pages()
	for len(o.names) < pages {
		o.names = append(o.names, nil)
		o.records = append(o.records, make([]uint32, pageSize)...)
	}
	clear(o.names[pages:])
	o.names, o.records = o.names[:pages], o.records[:pages*pageSize]
}
