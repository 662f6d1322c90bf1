ham |words lunch tomorrow
spam 2 |words cheap pills:2
ham |words lunch
spam 'tag1 |words cheap |size:0.1 bytes:30
