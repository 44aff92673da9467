"""The API server: storage, verbs, patches, validation, discovery, access control."""
