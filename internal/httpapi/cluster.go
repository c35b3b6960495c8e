package httpapi

// done answers what has nothing to tell but that it was done.
type done struct{}

func (s *server) status(r *request) (any, error) {
	if _, err := query(r); err != nil {
		return nil, err
	}
	return StatusOf(s.backend.Status()), nil
}

func (s *server) members(r *request) (any, error) {
	if _, err := query(r); err != nil {
		return nil, err
	}
	ctx, cancel := bounded(r, 0)
	defer cancel()
	members, err := s.backend.Members(ctx)
	if err != nil {
		return nil, reading(err)
	}
	return Members{Members: membersOf(members)}, nil
}

func (s *server) join(r *request) (any, error) {
	var body JoinRequest
	if err := read(r, &body); err != nil {
		return nil, err
	}
	if err := validateAddr(body.Addr); err != nil {
		return nil, err
	}
	ctx, cancel := bounded(r, 0)
	defer cancel()
	return done{}, s.backend.Join(ctx, body.ID, body.Addr, body.Nonvoter)
}

func (s *server) remove(r *request) (any, error) {
	if _, err := query(r); err != nil {
		return nil, err
	}
	ctx, cancel := bounded(r, 0)
	defer cancel()
	return done{}, s.backend.Remove(ctx, r.name)
}

func (s *server) transfer(r *request) (any, error) {
	var body TransferRequest
	if err := read(r, &body); err != nil {
		return nil, err
	}
	ctx, cancel := bounded(r, 0)
	defer cancel()
	return done{}, s.backend.Transfer(ctx, body.ID)
}

// health answers as long as the process does.
func (s *server) health(*request) (any, error) {
	status := s.backend.Status()
	return Health{ID: status.ID, Role: status.Role}, nil
}

func (s *server) ready(r *request) (any, error) {
	if err := s.backend.Ready(); err != nil {
		return nil, reading(err)
	}
	return s.health(r)
}
