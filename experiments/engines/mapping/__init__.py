"""Other forms of mappings between schemas than those of the product, and what only experiments need of them.

frames, goals        matching on source events, with frames of image elements (IDDR)
translating          query rewriting (QRA): the subscription in the publisher's schema
image_places         the places of an image, which both of these need
reversing            a document from its image (EDRR, LDRR)
streaming            the operators as transducers of events
printed_rules        the rules of the papers by which operators are derived
dialects             source schemas that are made from a global schema, with their true mapping
approaches           the approaches by name, for networks; publishers: who writes dialects, for the simulator
"""
